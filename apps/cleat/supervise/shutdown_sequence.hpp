// shutdown_sequence: the steps from serving to the end.

#pragma once

#include <chrono>
#include <optional>

namespace cleat::app {

/// shutdown_times are a configuration's drain-delay and shutdown-timeout.
struct shutdown_times
{
    std::chrono::seconds delay{0};
    std::chrono::seconds timeout{0};
};

/// shutdown_sequence goes from serving over `announced`, while balancers learn that cleat is not
/// ready and new connections are served, and `draining`, while no new ones are taken and the
/// others finish, to `ending`. It decides the step only; its owner acts.
class shutdown_sequence
{
public:
    using clock = std::chrono::steady_clock;

    enum class step
    {
        serving,
        announced,
        draining,
        ending
    };

    [[nodiscard]] step present() const noexcept { return present_; }

    /// advance takes the next step, as SIGTERM and the end of a step's time do. Without a delay
    /// nothing is announced. Nothing: it was the last.
    std::optional<step> advance(clock::time_point now, shutdown_times const& times) noexcept
    {
        switch (present_) {
        case step::serving:
            return times.delay.count() > 0 ? enter(step::announced, now + times.delay)
                                           : enter(step::draining, now + times.timeout);
        case step::announced:
            return enter(step::draining, now + times.timeout);
        case step::draining:
            return end();
        case step::ending:
            break;
        }
        return {};
    }

    /// end leaves out all steps before the last.
    std::optional<step> end() noexcept
    {
        if (present_ == step::ending)
            return {};
        return enter(step::ending, clock::time_point::max());
    }

    /// deadline is the end of the present step's time; clock::time_point::max() where it has none.
    [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }

private:
    step enter(step next, clock::time_point deadline) noexcept
    {
        present_ = next;
        deadline_ = deadline;
        return next;
    }

    step present_ = step::serving;
    clock::time_point deadline_ = clock::time_point::max();
};

} // namespace cleat::app
