// cpu_budget: keeps a process below the CPU quota of its control group.

#pragma once

#include <cleat/core/cpu_limit.hpp>

#include <chrono>

namespace cleat {

/// cpu_budget says when work that can wait may use CPU time, where a quota limits the process. A
/// process that uses up its quota does not run at all until the next period: work that cannot wait
/// then waits too.
///
/// Credit grows with time, by a little less than the quota (limits::cpu_quota_share), and all CPU
/// time of the process reduces it. Work that can wait is done until the credit is used up. Then it
/// waits for the time in which the credit grows to its ceiling: a part of the quota
/// (limits::cpu_credit_part), because the kernel's periods begin at unknown times. In small pieces
/// the same work takes more CPU time: the caches are cold after each wait. CPU time of other work
/// during the wait, also of the wake-up, leaves less credit after it, and does not make the wait
/// longer. So work that can wait goes on, slowly, where the other work alone uses up the quota.
///
/// It reads no clock. Not thread-safe: each worker has its own, and all see the same CPU time.
class cpu_budget
{
public:
    /// clock is the one that `now` is read from.
    using clock = std::chrono::steady_clock;

    /// `used` is the CPU time that the process has used until `now`.
    cpu_budget(cpu_limit limit, clock::time_point now, std::chrono::nanoseconds used) noexcept;

    /// update takes the present CPU time of the process.
    void update(clock::time_point now, std::chrono::nanoseconds used) noexcept;

    /// has_credit is false from the time when the credit is used up until the wait is over.
    [[nodiscard]] bool has_credit() const noexcept { return !waits_; }

    /// time_to_credit is how much of the wait is left.
    [[nodiscard]] std::chrono::nanoseconds time_to_credit() const noexcept
    {
        return waits_ ? wait_end_ - updated_ : std::chrono::nanoseconds{};
    }

private:
    double rate_;          // Credit for each unit of time.
    double credit_max_ns_; // The least is minus this.
    double credit_ns_;
    bool waits_ = false;
    clock::time_point wait_end_{};
    clock::time_point updated_;
    std::chrono::nanoseconds used_;
};

} // namespace cleat
