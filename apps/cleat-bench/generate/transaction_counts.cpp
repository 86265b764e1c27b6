#include "generate/transaction_counts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace cleat::bench {
namespace {

interval& interval_of_start(worker_load& load, begun_transaction const& one)
{
    return load.counts().by_start_at(load.since_begin(one.intended));
}

void count_late(worker_load& load, begun_transaction const& one, moment end, bool ok) noexcept
{
    tally& counts = load.counts();
    counts.pending_at_half += load.spans_half(one.intended, end) ? 1U : 0U;
    if (!load.drains(one.intended, end))
        return;
    ++counts.drained;
    counts.drained_ok += ok ? 1U : 0U;
}

} // namespace

void count_begun(worker_load& load, begun_transaction const& one)
{
    tally& counts = load.counts();
    ++counts.attempts;
    if (!counts.paths.empty())
        ++counts.paths[one.path].attempts;
    ++counts.interval_at(load.since_begin(one.intended)).attempted;
    if (load.spec().by_start)
        ++interval_of_start(load, one).attempted;
}

void count_ok(worker_load& load, begun_transaction const& one, moment response_from, moment end)
{
    tally& counts = load.counts();
    auto const response = static_cast<std::uint64_t>(
        std::max<std::int64_t>(std::chrono::nanoseconds{end - response_from}.count(), 0));
    ++counts.ok;
    count_late(load, one, end, true);
    counts.response.record(response);
    if (!counts.paths.empty()) {
        ++counts.paths[one.path].ok;
        counts.paths[one.path].response.record(response);
    }
    interval const part{.ok = 1, .response_ns = response, .response_ns_max = response};
    add(counts.interval_at(load.since_begin(end)), part);
    if (load.spec().by_start)
        add(interval_of_start(load, one), part);
}

void count_failed(
    worker_load& load, begun_transaction const& one, failure what, moment now, moment end)
{
    tally& counts = load.counts();
    // A transaction that the end of the run cut off says nothing about the time of its start.
    if (load.spec().by_start && what.kind != unfinished)
        ++interval_of_start(load, one).failed;
    ++counts.failures[std::move(what)];
    count_late(load, one, end, false);
    ++counts.interval_at(load.since_begin(now)).failed;
}

} // namespace cleat::bench
