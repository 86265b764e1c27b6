// host_run: what one host is asked, what it answers, and what became of it. Without I/O.

#pragma once

#include "generate/progress.hpp"
#include "hosts/clock_samples.hpp"
#include "hosts/hosts_request.hpp"
#include "result/result.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// host_plan is the same for all hosts; it outlives their runs.
struct host_plan
{
    std::string version; ///< program_version: a host with another one gets a copy of this program.
    std::string system;  ///< "Linux x86_64", for which this program is.
    std::string program; ///< The bytes of this program.
    std::vector<sent_file> files;
};

enum class host_stage : std::uint8_t
{
    connecting, ///< ssh, up to the host's first line.
    copying,
    preparing, ///< cleat-bench reads its options, and tries one transaction.
    ready,     ///< It waits for the start, its clock is known.
    running,
    done, ///< Its document is here.
    lost, ///< It ended before that: `reason`.
};

/// host_run is the dialogue with one host, line by line. Each function that gives bytes gives what
/// is to be sent to the host.
class host_run
{
public:
    using time_point = std::chrono::system_clock::time_point;

    host_run(std::string name, host_plan const& plan) : name_{std::move(name)}, plan_{&plan} {}

    /// take_line takes a line of its standard output. A line without host_mark is dropped.
    [[nodiscard]] std::string take_line(std::string_view line, time_point now);

    /// start begins the load of a host that is ready. `begin` has whole microseconds.
    [[nodiscard]] std::string start(time_point begin);

    /// take_end is called when ssh has ended: how, and what came on its standard error.
    void take_end(std::string_view how, std::string_view complaints);

    /// lose gives the host up.
    void lose(std::string reason);

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] host_stage stage() const noexcept { return stage_; }
    [[nodiscard]] bool is_over() const noexcept { return stage_ >= host_stage::done; }
    [[nodiscard]] std::string const& reason() const noexcept { return reason_; }
    [[nodiscard]] bool copied() const noexcept { return copies_; }
    /// version is that of the cleat-bench which the host has itself; empty: none.
    [[nodiscard]] std::string const& version() const noexcept { return version_; }
    [[nodiscard]] clock_samples const& clock() const noexcept { return clock_; }
    [[nodiscard]] progress const* now() const noexcept { return now_.get(); }

    /// late is how much later than it was to a host that is done began to count. `warm_up` is the
    /// load's.
    [[nodiscard]] std::chrono::nanoseconds late(std::chrono::nanoseconds warm_up) const;

    /// take_result gives the document of a host that is done, in the time of this machine.
    [[nodiscard]] result take_result();

private:
    [[nodiscard]] std::string take_found(std::string_view words);
    [[nodiscard]] std::string send_next();
    [[nodiscard]] std::string take_clock(std::string_view words, time_point now);
    [[nodiscard]] std::string ask_clock(time_point now);

    std::string name_;
    host_plan const* plan_;
    host_stage stage_ = host_stage::connecting;
    std::string reason_;
    std::string version_;
    bool copies_ = false;
    std::size_t sent_ = 0; // Files, the program being the first where it is copied.
    clock_samples clock_;
    unsigned clocks_asked_ = 0;
    time_point asked_;
    time_point begin_; // In the time of this machine.
    time_point start_; // The same in the host's.
    std::unique_ptr<progress> now_;
    std::optional<result> result_;
};

} // namespace cleat::bench
