#include "generate/load_spec.hpp"
#include "text/times.hpp"

#include <cleat/net/worker_pool.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace cleat::bench {

using namespace std::chrono_literals;

namespace {

constexpr std::array<std::string_view, 3> use_names{"open", "echo", "hold"};

} // namespace

std::string_view name_of(websocket_use use) noexcept
{
    return use_names[static_cast<std::size_t>(use)];
}

bool parse(std::string_view name, websocket_use& parsed) noexcept
{
    auto const found = std::ranges::find(use_names, name);
    if (found == use_names.end())
        return false;
    parsed = static_cast<websocket_use>(found - use_names.begin());
    return true;
}

std::chrono::milliseconds time_of_all_stages(load_spec const& spec) noexcept
{
    timeouts const& each = spec.timeouts;
    return each.connect + each.handshake + each.answer * (spec.websocket ? 2 : 1);
}

std::size_t workers_of(load_spec const& spec)
{
    std::size_t const workers = net::worker_count(spec.workers);
    if (closed const* const loop = std::get_if<closed>(&spec.loop))
        return std::min<std::size_t>(workers, loop->connections);
    if (kept const* const held = std::get_if<kept>(&spec.loop))
        return std::min<std::size_t>(workers, held->connections);
    return workers;
}

bool has_schedule(load_spec const& spec) noexcept
{
    return !std::holds_alternative<closed>(spec.loop);
}

std::chrono::nanoseconds schedule_length(load_spec const& spec)
{
    auto const* const loop = std::get_if<open>(&spec.loop);
    if (loop == nullptr || !spec.transactions)
        return spec.duration;
    pacer const times{loop->phases, loop->spacing};
    double const connections = std::ceil(
        static_cast<double>(*spec.transactions) / static_cast<double>(spec.exchange.requests));
    auto const end = times.time_of(times.expected_until(spec.warm_up) + connections);
    return std::clamp<std::chrono::nanoseconds>(end - spec.warm_up, 1ns, spec.duration);
}

std::optional<double> rate_asked(load_spec const& spec)
{
    if (!has_schedule(spec))
        return std::nullopt;
    if (kept const* const held = std::get_if<kept>(&spec.loop))
        return held->connections / in_seconds(held->period);
    open const& loop = std::get<open>(spec.loop);
    pacer const times{loop.phases, loop.spacing};
    std::chrono::nanoseconds const length = schedule_length(spec);
    double const connections =
        times.expected_until(spec.warm_up + length) - times.expected_until(spec.warm_up);
    return connections * static_cast<double>(spec.exchange.requests) / in_seconds(length);
}

} // namespace cleat::bench
