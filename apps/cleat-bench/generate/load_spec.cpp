#include "generate/load_spec.hpp"
#include "text/times.hpp"

#include <cleat/net/worker_pool.hpp>

#include <algorithm>
#include <cmath>

namespace cleat::bench {

using namespace std::chrono_literals;

std::size_t workers_of(load_spec const& use)
{
    std::size_t const workers = net::worker_count(use.workers);
    if (closed const* const loop = std::get_if<closed>(&use.arrive))
        return std::min<std::size_t>(workers, loop->connections);
    if (kept const* const held = std::get_if<kept>(&use.arrive))
        return std::min<std::size_t>(workers, held->connections);
    return workers;
}

bool has_schedule(load_spec const& use) noexcept
{
    return !std::holds_alternative<closed>(use.arrive);
}

std::chrono::nanoseconds time_of_beginnings(load_spec const& use)
{
    auto const* const loop = std::get_if<open>(&use.arrive);
    if (loop == nullptr || !use.transactions)
        return use.duration;
    pacer const times{loop->phases, loop->how};
    double const connections =
        std::ceil(static_cast<double>(*use.transactions) / static_cast<double>(use.say.requests));
    auto const up = times.time_of(times.expected_until(use.warm_up) + connections);
    return std::clamp<std::chrono::nanoseconds>(up - use.warm_up, 1ns, use.duration);
}

double rate_asked(load_spec const& use)
{
    if (kept const* const held = std::get_if<kept>(&use.arrive))
        return held->connections / in_seconds(held->every);
    open const& loop = std::get<open>(use.arrive);
    pacer const times{loop.phases, loop.how};
    std::chrono::nanoseconds const length = time_of_beginnings(use);
    double const connections =
        times.expected_until(use.warm_up + length) - times.expected_until(use.warm_up);
    return connections * static_cast<double>(use.say.requests) / in_seconds(length);
}

} // namespace cleat::bench
