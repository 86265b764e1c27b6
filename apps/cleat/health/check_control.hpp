// check_control: the main thread's side of the checks: which servers are checked, and the reaction
// to results.

#pragma once

#include "health/checker.hpp"
#include "health/upstream_states.hpp"
#include "log/log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace cleat::app {

/// check_control belongs to the main thread. Where no upstream has checks, it starts no thread.
class check_control
{
public:
    /// `wake` is called on another thread: follow is due.
    check_control(upstream_states& states, std::function<void()> wake) noexcept;

    /// follow takes the results that have come, and checks the servers that there are now. The log
    /// has a line when a server goes down, and when it is back.
    void follow(logger const& log);

private:
    void take_news(logger const& log);
    void check_present(logger const& log);

    upstream_states& states_;
    std::function<void()> wake_;
    std::uint64_t followed_ = 0; // The version of the states.
    std::vector<check_target> targets_;
    std::uint64_t order_ = 0; // Of the checker.
    std::unique_ptr<checker> checker_;
};

} // namespace cleat::app
