// reload_sequence: reloads one after the other, from the request to the outcome.

#pragma once

#include "reload/reload_outcome.hpp"
#include "reload/reloader.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// reload_sequence is used by the main thread. Its log lines are `reloading`, and then either
/// `reloaded` with what has changed, or a `reload-problem` for each mistake and `reload-refused`:
/// the present configuration serves on.
class reload_sequence
{
public:
    /// Called when a reload begins, which returns the files that have changed, and with its
    /// outcome. Where `ended` throws std::bad_alloc, it is called again.
    struct observer
    {
        std::function<file_changes()> begun;
        std::function<void(reload_outcome const&)> ended;
    };

    reload_sequence(worker_group& workers, start_facts const& start, observer watcher);

    /// request asks for a reload. Requests that come while one is under way become one more after
    /// it, which sees what has changed meanwhile. Where its refusal is not final, because another
    /// request will follow, it is no error in the log: `reload-waits`.
    void request(bool is_final = true);

    /// is_busy: a reload is under way.
    [[nodiscard]] bool is_busy() const noexcept
    {
        return builder_.is_busy() || built_ || replacing_ || is_ending_;
    }

    /// go_on does the next step, where one is due: call it after worker_group::news. Throws
    /// std::bad_alloc; the next call goes on from there.
    void go_on();

    /// stop refuses the reload that is under way, and later ones: the program ends.
    void stop();

private:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] logger const& log() const noexcept { return workers_.present().log; }
    void begin();
    void take();
    void refuse(std::vector<problem> problems, std::shared_ptr<watch_plan const> watched = {});
    void refuse(std::string why);
    void end();

    worker_group& workers_;
    start_facts const& start_;
    observer observer_;
    reloader builder_;
    bool requested_ = false;
    bool request_is_final_ = false;
    bool is_final_ = true;           // The reload that is under way.
    std::optional<candidate> built_; // It is neither refused nor given to the workers.
    bool replacing_ = false;         // The workers are taking it.
    bool is_ending_ = false;         // There is an outcome, and not everybody has it.
    bool is_logged_ = false;         // The outcome is in the log.
    bool stopped_ = false;
    reload_outcome outcome_; // While replacing_ or is_ending_.
    clock::time_point begun_{};
};

} // namespace cleat::app
