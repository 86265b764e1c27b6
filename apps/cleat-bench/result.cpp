#include "result.hpp"
#include "times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// Beyond this share of its time a worker has no reserve, and queues in itself.
constexpr double busy_max = 0.90;
// A start later than this, in one of a hundred, is not what was asked for.
constexpr std::uint64_t slip_max = 1'000'000;

} // namespace

double result::rate() const noexcept
{
    double const time = in_seconds(measured);
    return time > 0 ? static_cast<double>(counts.ok) / time : 0;
}

double result::busiest() const noexcept
{
    if (worker_cpu.empty() || measured <= 0ns)
        return 0;
    return in_seconds(*std::ranges::max_element(worker_cpu)) / in_seconds(measured);
}

verdict judge(result const& of)
{
    verdict found;
    auto const add = [&](std::string limit, std::string cure) {
        found.limits.push_back(std::move(limit));
        found.cures.push_back(std::move(cure));
    };
    if (of.busiest() > busy_max)
        add(fmt::format(
                "a worker of the generator was busy {:.0f} % of the time", of.busiest() * 100),
            "give it more cores (--workers), or run it on more machines and merge the results");
    if (std::uint64_t const slip = of.counts.slip.percentile(99); of.rate_asked && slip > slip_max)
        add(fmt::format(
                "1 % of the transactions began {:.1f} ms late or more",
                static_cast<double>(slip) / 1e6),
            "ask for less, give the generator cores of its own, or run it on more machines");
    std::uint64_t ports = 0;
    std::uint64_t files = 0;
    std::uint64_t memory = 0;
    for (auto const& [what, count] : of.counts.failures)
        if (client_limit(what))
            (what.kind == "no ports" ? ports : what.kind == "no files" ? files : memory) += count;
    if (ports != 0)
        add(fmt::format("{} connections found no port of their own", ports),
            "use more source addresses (--source 127.0.0.1-127.0.0.20 on loopback), or --close "
            "reset");
    if (files != 0)
        add(fmt::format("{} connections found no file descriptor, or too many were open", files),
            "raise the limit of open files (ulimit -n), or ask for less");
    if (memory != 0)
        add(fmt::format("{} connections found no memory", memory), "ask for less");
    return found;
}

std::vector<std::string> remarks_on(result const& of)
{
    tally const& counts = of.counts;
    if (!counts.early || counts.early->accepted != 0 || counts.ok == 0)
        return {};
    if (counts.offered == 0)
        return {"no early data was sent: the server gave no session to send it with; turn on its "
                "TLS 1.3 session tickets, or let the run last for more connections"};
    if (counts.early->offered == 0)
        return {"no early data was sent: the server's sessions do not allow it; turn it on there "
                "(nginx: ssl_early_data on), with TLS 1.3"};
    return {
        "the server rejected all early data: see that it is on (nginx: ssl_early_data on), that "
        "all servers behind the address have the same ticket keys, and that --groups begins "
        "with a group that the server takes"};
}

result merge(std::vector<result> const& parts)
{
    if (parts.empty())
        throw std::runtime_error{"nothing to merge"};
    // The one that began first lends its timeline.
    auto const first = std::ranges::min_element(parts, {}, &result::started);
    result sum = *first;
    std::size_t machine = 1;
    for (result const& more : parts) {
        if (&more == &*first)
            continue;
        if (more.counts.interval_length != sum.counts.interval_length)
            throw std::runtime_error{
                "the results have timelines of different intervals: run all with the same "
                "--interval"};
        if (more.rate_asked.has_value() != sum.rate_asked.has_value())
            throw std::runtime_error{
                "one result is of an open loop and one of a closed one: they cannot be one load"};
        if (more.server && sum.server && more.server->pids != sum.server->pids)
            throw std::runtime_error{"the results name different server processes"};
        auto const later = std::chrono::duration_cast<std::chrono::nanoseconds>(
            more.started - sum.started + sum.counts.interval_length / 2);
        sum.counts.merge(more.counts, static_cast<std::size_t>(later / sum.counts.interval_length));
        sum.worker_cpu.insert(sum.worker_cpu.end(), more.worker_cpu.begin(), more.worker_cpu.end());
        if (sum.rate_asked)
            *sum.rate_asked += *more.rate_asked;
        auto const end = std::max(
            sum.started +
                std::chrono::duration_cast<std::chrono::system_clock::duration>(sum.measured),
            more.started +
                std::chrono::duration_cast<std::chrono::system_clock::duration>(more.measured));
        sum.measured = end - sum.started;
        sum.partial = sum.partial || more.partial;
        sum.command += "\n" + more.command;
        if (more.target != sum.target)
            sum.target += ", " + more.target;
        if (!sum.server)
            sum.server = more.server;
        sum.environment.emplace_back("generator " + std::to_string(++machine), "");
        sum.environment.insert(
            sum.environment.end(), more.environment.begin(), more.environment.end());
        for (std::size_t k = 0; k != more.verdict.limits.size(); ++k) {
            sum.verdict.limits.push_back(more.verdict.limits[k]);
            sum.verdict.cures.push_back(more.verdict.cures[k]);
        }
    }
    return sum;
}

} // namespace cleat::bench
