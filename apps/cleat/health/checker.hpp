// checker: the thread that checks servers.

#pragma once

#include "health/check_probe.hpp"
#include "system/mailbox.hpp"
#include "system/wakeup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cleat::app {

/// check_news is the state of a server that has changed, or its first one, or one that the order's
/// target does not have.
struct check_news
{
    std::uint64_t order = 0; ///< Of the call of follow.
    std::string upstream;
    std::string server;
    bool is_down = false;
    std::string reason{}; ///< Of the last failure, where it is down.
    unsigned checks = 0;  ///< How many in a row had this result.
    check_news* next = nullptr;
};

/// checker checks each target at its interval, on a thread of its own with a low priority. It is
/// used by one thread.
class checker
{
public:
    /// `wake` is called on the checker's thread when there is news. Throws std::system_error.
    explicit checker(std::function<void()> wake);
    checker(checker&&) = delete;

    /// Ends the checks that are under way.
    ~checker();

    /// follow checks these from now on. A target that was there already goes on where it is. It
    /// returns the order's number: news of an earlier order may be of a rule that does not hold any
    /// more. The checker repeats those of them that the targets do not have.
    std::uint64_t follow(std::vector<check_target> targets);

    /// next_news is the oldest, or null.
    [[nodiscard]] std::unique_ptr<check_news> next_news() noexcept { return news_.next(); }

private:
    using clock = std::chrono::steady_clock;
    struct orders;
    struct watch;

    void run() noexcept;
    void turn();
    void take_orders();
    [[nodiscard]] std::vector<std::unique_ptr<watch>> watches_for(
        std::vector<check_target> const& targets);
    [[nodiscard]] std::shared_ptr<check_context> context_for(
        check_rule const& rule, std::vector<std::unique_ptr<watch>> const& made) const;
    void begin_due(clock::time_point now);
    void wait(clock::time_point now);
    void settle(watch& one, check_probe::progress made);
    void tell(watch& one, unsigned checks);

    std::function<void()> wake_;
    wakeup wakeup_;
    std::atomic<bool> ending_{false};
    std::uint64_t last_order_ = 0;
    std::atomic<orders*> orders_{nullptr}; // The newest; the thread takes it.
    mailbox<check_news> news_;
    std::vector<std::unique_ptr<watch>> watches_; // The thread's, as are:
    std::uint64_t order_ = 0;
    std::size_t under_way_ = 0;
    std::thread thread_;
};

} // namespace cleat::app
