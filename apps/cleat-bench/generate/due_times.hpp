// due_times: when a kept connection sends its requests or messages. Plain arithmetic.

#pragma once

#include "generate/alarm.hpp"
#include "generate/load_spec.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

namespace cleat::bench {

/// kept_turn is one connection's part of the requests of `kept`.
struct kept_turn
{
    moment begun;                  ///< Of the load; of WebSockets, once all should be open.
    std::chrono::nanoseconds turn; ///< From there to its first request, where gaps are constant.
    moment opens;                  ///< A WebSocket opens then.
    std::uint64_t seed;            ///< Repeats what is random.
};

/// due_times gives the moments at which a kept connection sends its requests.
class due_times
{
public:
    due_times(kept const& loop, kept_turn const& part)
        : gaps_{loop.gaps}, period_{loop.period}, next_{part.begun}, random_{part.seed}
    {
        if (gaps_ == kept_gaps::constant)
            next_ += part.turn;
    }

    [[nodiscard]] moment next()
    {
        if (gaps_ == kept_gaps::poisson) {
            std::exponential_distribution<double> gap{1.0};
            double const length = gap(random_) * static_cast<double>(period_.count());
            return next_ += std::chrono::nanoseconds{static_cast<std::int64_t>(length)};
        }
        std::uniform_int_distribution<std::int64_t> offset{0, period_.count() - 1};
        std::int64_t const later = gaps_ == kept_gaps::constant ? 0 : offset(random_);
        return std::exchange(next_, next_ + period_) + std::chrono::nanoseconds{later};
    }

private:
    kept_gaps gaps_;
    std::chrono::nanoseconds period_;
    moment next_; // Of the next period; of Poisson's, the last due moment.
    std::mt19937_64 random_;
};

} // namespace cleat::bench
