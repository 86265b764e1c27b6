#include "generate/tally.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>

namespace cleat::bench {
namespace {

interval& find_in(
    std::vector<interval>& timeline, std::chrono::nanoseconds length,
    std::chrono::nanoseconds since_begin)
{
    auto const index =
        static_cast<std::size_t>(std::max<std::int64_t>(since_begin.count(), 0) / length.count());
    if (index >= timeline.size())
        timeline.resize(index + 1);
    return timeline[index];
}

} // namespace

void add(std::vector<interval>& sum, std::vector<interval> const& more, std::size_t later)
{
    if (more.empty())
        return;
    if (sum.size() < later + more.size())
        sum.resize(later + more.size());
    for (std::size_t i = 0; i != more.size(); ++i)
        add(sum[later + i], more[i]);
}

void add(interval& sum, interval const& more) noexcept
{
    sum.attempted += more.attempted;
    sum.ok += more.ok;
    sum.failed += more.failed;
    sum.response_ns += more.response_ns;
    sum.response_ns_max = std::max(sum.response_ns_max, more.response_ns_max);
}

std::uint64_t tally::failed() const noexcept
{
    std::uint64_t sum = 0;
    for (auto const& [what, count] : failures)
        sum += count;
    return sum;
}

std::optional<std::uint64_t> tally::response_percentile(double p) const noexcept
{
    return response.percentile_of(p, std::max(attempts, response.count()));
}

std::optional<std::uint64_t> path_counts::response_percentile(double p) const noexcept
{
    return response.percentile_of(p, std::max(attempts, response.count()));
}

std::optional<std::uint64_t> websocket_counts::opening_percentile(double p) const noexcept
{
    return opening.percentile_of(p, std::max(openings, opening.count()));
}

void websocket_counts::merge(websocket_counts const& other) noexcept
{
    use = other.use;
    openings += other.openings;
    opened_in_time += other.opened_in_time;
    pings += other.pings;
    messages += other.messages;
    opening.merge(other.opening);
}

void http2_counts::merge(http2_counts const& other) noexcept
{
    streams = other.streams;
    open_max = std::max(open_max, other.open_max);
    connections += other.connections;
    limited += other.limited;
    if (other.allowed_min)
        allowed_min = std::min(allowed_min.value_or(*other.allowed_min), *other.allowed_min);
    goaways += other.goaways;
    resent += other.resent;
}

void tally::count_agreement(
    std::string_view version, std::string_view cipher, std::string_view group)
{
    for (agreement& each : agreed)
        if (each.cipher == cipher && each.group == group && each.version == version) {
            ++each.count;
            return;
        }
    agreed.push_back({std::string{version}, std::string{cipher}, std::string{group}, 1});
}

interval& tally::interval_at(std::chrono::nanoseconds since_begin)
{
    return find_in(timeline, interval_length, since_begin);
}

interval& tally::by_start_at(std::chrono::nanoseconds since_begin)
{
    return find_in(by_start, interval_length, since_begin);
}

void tally::merge(tally const& other, std::size_t begins_later)
{
    CLEAT_ASSERT(interval_length == other.interval_length);
    attempts += other.attempts;
    ok += other.ok;
    for (auto const& [what, count] : other.failures)
        failures[what] += count;
    connections += other.connections;
    full += other.full;
    resumed += other.resumed;
    offered += other.offered;
    if (other.early) {
        early_counts& sum = early ? *early : early.emplace();
        sum.offered += other.early->offered;
        sum.accepted += other.early->accepted;
        sum.rejected += other.early->rejected;
    }
    for (agreement const& each : other.agreed) {
        count_agreement(each.version, each.cipher, each.group);
        auto const mine = std::ranges::find_if(agreed, [&](agreement const& a) {
            return a.version == each.version && a.cipher == each.cipher && a.group == each.group;
        });
        mine->count += each.count - 1;
    }
    for (path_counts const& each : other.paths) {
        auto mine = std::ranges::find(paths, each.path, &path_counts::path);
        if (mine == paths.end())
            mine = paths.insert(paths.end(), {.path = each.path});
        mine->attempts += each.attempts;
        mine->ok += each.ok;
        mine->response.merge(each.response);
    }
    if (other.websocket)
        (websocket ? *websocket : websocket.emplace()).merge(*other.websocket);
    if (other.http2)
        (http2 ? *http2 : http2.emplace()).merge(*other.http2);
    bytes_up += other.bytes_up;
    bytes_down += other.bytes_down;
    tcp.merge(other.tcp);
    tls.merge(other.tls);
    tls_resumed.merge(other.tls_resumed);
    first_byte.merge(other.first_byte);
    response.merge(other.response);
    slip.merge(other.slip);
    lag.merge(other.lag);
    drained += other.drained;
    drained_ok += other.drained_ok;
    pending_at_half += other.pending_at_half;
    add(timeline, other.timeline, begins_later);
    add(by_start, other.by_start, begins_later);
    cpu += other.cpu;
}

} // namespace cleat::bench
