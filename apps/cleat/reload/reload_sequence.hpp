// reload_sequence: reloads one after the other, from the request to the log line of the outcome.

#pragma once

#include "reload/reloader.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace cleat::app {

/// reload_sequence is used by the main thread. Its log lines: `reloading`; then `reloaded` with
/// what has changed, or `reload-refused` for each problem, and the present configuration serves on.
class reload_sequence
{
public:
    /// command_line and folder are those with which the program was started.
    reload_sequence(
        worker_group& workers, std::vector<std::string> const& command_line,
        std::string const& folder);

    /// request asks for a reload. Requests that come while one is under way become one more after
    /// it, which sees what has changed meanwhile.
    void request();

    /// done is a descriptor: call go_on when it is readable, and after worker_group::news.
    [[nodiscard]] int done() const noexcept { return builder_.done(); }

    /// go_on does the next step, where one is due.
    void go_on();

    /// stop refuses the reload that is under way, and later ones: the program ends.
    void stop();

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] logger const& log() const noexcept { return workers_.present().log; }
    void begin();
    void take();
    void refuse(std::vector<problem> const& problems) const;
    void refuse(std::string why) const;
    void report_success();

    worker_group& workers_;
    std::vector<std::string> const& command_line_;
    std::string const& folder_;
    reloader builder_;
    bool requested_ = false;
    bool replacing_ = false; // The workers are taking the new configuration.
    bool stopped_ = false;
    configuration_changes changes_; // While replacing_.
    clock::time_point begun_{};
};

} // namespace cleat::app
