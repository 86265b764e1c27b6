#include "commands/live_view.hpp"
#include "commands/load_on_hosts.hpp"
#include "hosts/hosts_run.hpp"
#include "result/environment.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <sys/utsname.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// For what a host does after the last end: its histograms, and their way here.
constexpr auto document_patience = 10s;

host_plan plan_for(hosts_request const& request)
{
    utsname own{};
    ::uname(&own);
    return {
        .version = program_version(),
        .system = fmt::format("{} {}", own.sysname, own.machine),
        .program = read_file("/proc/self/exe"),
        .files = request.files};
}

// The rate is of each host, and the server gets the sum: the user reads both before the begin.
void announce(load_request const& request, std::vector<host_run> const& hosts)
{
    std::vector<std::string> names;
    for (host_run const& each : hosts)
        names.push_back(
            !each.copied() ? each.name()
                           : fmt::format(
                                 "{} ({}, so with a copy of this one)", each.name(),
                                 each.version().empty() ? "it has no cleat-bench"
                                                        : "it has " + each.version()));
    std::string load;
    if (std::optional<double> const rate = rate_asked(request.spec))
        load = fmt::format(
            ": each with {:.1f}/s, {:.1f}/s together", *rate,
            *rate * static_cast<double>(hosts.size()));
    else if (auto const* const loop = std::get_if<closed>(&request.spec.loop))
        load = fmt::format(
            ": each with {} connections, {} together", loop->connections,
            loop->connections * hosts.size());
    complain("{} hosts: {}{}\n", hosts.size(), fmt::join(names, ", "), load);
}

load_host describe(host_run const& host, result const& part, std::chrono::nanoseconds late)
{
    return {
        .name = host.name(),
        .lost = "",
        .late = late,
        .clock_error = host.clock().error(),
        .copied = host.copied(),
        .limited = part.verdict.client_limited(),
        .attempts = part.counts.attempts,
        .ok = part.counts.ok,
        .rate = part.rate()};
}

load_host describe_lost(host_run const& host, std::string reason)
{
    load_host found;
    found.name = host.name();
    found.lost = std::move(reason);
    found.copied = host.copied();
    return found;
}

// A part with the name of its host in all that the sum has of each generator.
result named_part(result part, std::string const& host)
{
    part.asked.insert(part.asked.begin(), {"host", host});
    part.environment.insert(part.environment.begin(), {"host", host});
    for (std::string& limit : part.verdict.limits)
        limit = fmt::format("on the host {}: {}", host, limit);
    return part;
}

[[noreturn]] void refuse_parts(std::vector<load_host> const& hosts, std::string const& why)
{
    std::string text = why;
    for (load_host const& each : hosts)
        text += each.lost.empty() ? fmt::format(
                                        "\n  host {}: began {} late", each.name,
                                        in_words(static_cast<double>(each.late.count())))
                                  : fmt::format("\n  host {}: lost: {}", each.name, each.lost);
    throw std::runtime_error{text};
}

} // namespace

result sum_of_hosts(std::vector<host_run>& hosts, std::chrono::nanoseconds warm_up, bool stopped)
{
    std::vector<result> parts;
    std::vector<load_host> described;
    for (host_run& each : hosts) {
        if (each.stage() != host_stage::done) {
            described.push_back(describe_lost(each, each.reason()));
            continue;
        }
        std::chrono::nanoseconds const late = each.late(warm_up);
        result part = each.take_result();
        // Its time is not that of the others.
        if (part.partial && !stopped) {
            described.push_back(describe_lost(each, "its load was ended there before its time"));
            continue;
        }
        described.push_back(describe(each, part, late));
        parts.push_back(named_part(std::move(part), each.name()));
    }
    if (parts.empty())
        refuse_parts(described, "no host has given a result");
    try {
        result sum = merge(parts, together::the_begin);
        sum.hosts = std::move(described);
        return sum;
    } catch (std::runtime_error const& e) {
        refuse_parts(described, e.what());
    }
}

result run_on_hosts(load_request const& request)
{
    check_writable(files_of(request));
    interruption signals;
    host_plan const plan = plan_for(*request.hosts);
    hosts_run running{*request.hosts, plan, signals};
    std::size_t const paths = std::max<std::size_t>(request.spec.exchange.by_path.size(), 1);
    running.prepare(
        time_of_all_stages(request.spec) * (request.preflight ? static_cast<int>(paths) : 0));

    std::optional<live_view> view;
    if (!request.output.quiet) {
        announce(request, running.hosts());
        view.emplace(request.spec, request.server_pids, running.hosts().size());
    }
    auto const period = live_view::has_terminal() ? 500ms : 5s;
    auto next = period;
    running.run(
        request.spec.warm_up + request.spec.duration + time_of_all_stages(request.spec) +
            document_patience,
        [&](progress const& now) {
            if (!view || now.since_begin + request.spec.warm_up < next)
                return;
            view->show(now);
            next += period;
        });
    view.reset();
    result sum = sum_of_hosts(running.hosts(), request.spec.warm_up, running.was_stopped());
    sum.name = request.name.empty() ? request.spec.target : request.name;
    sum.command = request.command;
    sum.partial = sum.partial || running.was_stopped();
    for (load_host const& each : sum.hosts)
        if (!each.lost.empty())
            complain("cleat-bench: the host {} was lost: {}\n", each.name, each.lost);
    return sum;
}

} // namespace cleat::bench
