// hosts_run: one load on several hosts, from the first ssh to the last document.

#pragma once

#include "generate/progress.hpp"
#include "hosts/channel.hpp"
#include "hosts/host_lines.hpp"
#include "hosts/host_run.hpp"
#include "hosts/hosts_request.hpp"
#include "system/interruption.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::bench {

/// host_away is thrown where a host cannot take part, before anything has begun. The text names
/// each such host.
struct host_away : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// hosts_run lives on one thread. Its end ends what it has started on the hosts: their standard
/// input ends, and they remove what was copied there.
class hosts_run
{
public:
    using clock = std::chrono::steady_clock;

    /// Starts an ssh for each host. `request`, `plan` and `signals` outlive it. Throws
    /// std::runtime_error.
    hosts_run(hosts_request const& request, host_plan const& plan, interruption& signals);
    hosts_run(hosts_run&&) = delete;
    ~hosts_run();

    /// prepare waits until all hosts are ready; `preflight` is how long the first transactions may
    /// take. Throws host_away; usage_error where a host's cleat-bench refused the options;
    /// interrupted.
    void prepare(std::chrono::milliseconds preflight);

    /// run begins the load on all hosts at one time, and waits until each has given its document or
    /// is lost; at most `limit` from the start. `watch` is called twice a second, with the sum of
    /// what the hosts have said last. A signal ends the load on all hosts.
    void run(std::chrono::nanoseconds limit, std::function<void(progress const&)> const& watch);

    /// hosts are in the order of the request.
    [[nodiscard]] std::vector<host_run>& hosts() noexcept { return hosts_; }

    /// begin is when the load began, in the time of this machine.
    [[nodiscard]] std::chrono::system_clock::time_point begin() const noexcept { return begin_; }

    /// was_stopped: a signal ended the load.
    [[nodiscard]] bool was_stopped() const noexcept { return stopped_; }

private:
    void step();
    bool serve(std::size_t number);
    void take_ends();
    void leave() noexcept;
    void stop();
    void give_up_silent(std::chrono::milliseconds preflight);
    void refuse_away() const;
    [[nodiscard]] bool all(bool (*holds)(host_run const&)) const;
    [[nodiscard]] std::optional<progress> sum() const;

    hosts_request const& request_;
    interruption& signals_;
    std::vector<host_run> hosts_;
    std::vector<std::unique_ptr<channel>> channels_;
    std::vector<line_buffer> lines_;
    std::vector<clock::time_point> heard_; // When each host last did something.
    std::chrono::system_clock::time_point begin_;
    bool stopped_ = false;
};

} // namespace cleat::bench
