#include "admin/exposition.hpp"
#include "admin/status_json.hpp"
#include "failures/failure_example.hpp"
#include "inspect/json_text.hpp"
#include "inspect/problem_json.hpp"
#include "log/log.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

namespace cleat::app {
namespace {

std::string time_json(std::chrono::system_clock::time_point time)
{
    std::array<char, rfc3339_size> const text = format_rfc3339(time);
    return json_string({text.data(), text.size()});
}

// The ends are read before the beginnings, so that no connection has only ended.
std::string worker_json(worker_source const& worker)
{
    worker_counts const& counts = *worker.counts;
    std::uint64_t closed = 0;
    for (std::size_t i = 0; i < close_reason_count; ++i)
        closed += counts.closed.value(static_cast<close_reason>(i));
    std::uint64_t const opened = counts.traffic.value(traffic_count::opened);
    std::uint64_t handshakes = 0;
    for (std::size_t i = 0; i < handshake_kind_count; ++i)
        handshakes += counts.handshakes.value(static_cast<handshake_kind>(i));
    std::uint64_t failed = 0;
    for (std::size_t i = 0; i < failure_kind_count; ++i)
        failed += counts.failures.value(static_cast<failure_kind>(i));
    std::optional<std::chrono::nanoseconds> const used = counts.cpu_time();
    return fmt::format(
        "{{\"ended\": {}, \"cpu_seconds\": {}, \"passes\": {}, \"longest_turn_seconds\": {}, "
        "\"connections\": {}, \"open\": {}, "
        "\"handshakes\": {}, \"handshakes_failed\": {}, \"handshakes_waiting\": {}, \"bytes_up\": "
        "{}, \"bytes_down\": {}}}",
        json_bool(counts.ended),
        used ? fmt::to_string(std::chrono::duration<double>{*used}.count()) : "null",
        worker.worker->passes(),
        std::chrono::duration<double>{worker.worker->longest_turn()}.count(), opened,
        opened - std::min(closed, opened), handshakes, failed,
        counts.ended ? 0 : counts.handshakes_waiting.load(std::memory_order_relaxed),
        counts.traffic.value(traffic_count::bytes_up),
        counts.traffic.value(traffic_count::bytes_down));
}

// Years after 9999 are none of RFC 3339.
std::string soon_json(soon_certificate const& each)
{
    return fmt::format(
        "{{\"origin\": {}, \"names\": {}, \"name_count\": {}, \"end_seconds\": {}, "
        "\"grade\": {}}}",
        json_string(each.origin), json_strings(each.names), each.name_count,
        each.end.time_since_epoch().count(), json_string(grade_of(each.stage)));
}

std::string certificates_json(certificate_counts const& found)
{
    return fmt::format(
        "{{\"all\": {}, \"counted\": {}, \"days_left_bounds\": [{}], \"by_days_left\": [{}], "
        "\"expiring\": {{\"notice\": {}, \"warning\": {}, \"error\": {}}}, \"soonest\": {}}}",
        found.all, time_json(found.when), fmt::join(days_left_bounds, ", "),
        fmt::join(found.by_days_left, ", "), found.at(expiry_stage::soon),
        found.at(expiry_stage::sooner), found.at(expiry_stage::last),
        array_json(found.soonest | std::views::take(limits::admin_soonest_max), soon_json));
}

std::string example_json(failure_example const& last)
{
    return fmt::format(
        "\"event\": {}, \"last\": {}, \"client\": {}, \"frontend\": {}, \"sni\": {}, "
        "\"alert\": {}, \"detail\": {}, \"subject\": {}",
        json_string(name_of(last.event)), time_json(last.time), json_string(last.client.view()),
        json_string(last.frontend.view()), json_string(last.server_name.view()),
        json_string(last.alert.view()), json_string(last.detail.view()),
        json_string(last.subject.view()));
}

// The failures of a reason on all workers, with the last of their examples.
std::string failure_json(std::span<worker_source const> workers, std::size_t number)
{
    std::uint64_t count = 0;
    std::optional<failure_example> last;
    for (worker_source const& each : workers) {
        count += each.counts->examples.value(number);
        std::optional<failure_example> const own = each.counts->examples.last(number);
        if (own && (!last || last->time < own->time))
            last = own;
    }
    if (!last)
        return {};
    return fmt::format(
        "{{\"reason\": {}, \"count\": {}, {}}}", json_string(failure_name(number)), count,
        example_json(*last));
}

std::string failures_json(std::span<worker_source const> workers)
{
    std::array<std::size_t, failure_number_count> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = i;
    return array_json(numbers, [&](std::size_t each) { return failure_json(workers, each); });
}

std::uint64_t closed(std::span<worker_source const> workers, close_reason why)
{
    std::uint64_t all = 0;
    for (worker_source const& each : workers)
        all += each.counts->closed.value(why);
    return all;
}

// null without max-memory.
std::string memory_json(metric_sources const& sources)
{
    memory_counts const* const now = sources.facts.memory.get();
    if (now == nullptr || now->limit == 0)
        return "null";
    return fmt::format(
        "{{\"limit_bytes\": {}, \"used_bytes\": {}, \"level\": {}, \"level_changes\": {}, "
        "\"connections_refused\": {}, \"handshakes_evicted\": {}, \"stalled_evicted\": {}, "
        "\"reading_failures\": {}}}",
        now->limit.load(), now->in_use.load(), json_string(to_string(now->level)),
        now->changes.load(), closed(sources.workers, close_reason::memory_limit),
        closed(sources.workers, close_reason::handshake_evicted),
        closed(sources.workers, close_reason::stalled_evicted), now->failures.load());
}

std::string network_json(shed_network const& each)
{
    return fmt::format(
        "{{\"network\": {}, \"count\": {}, \"excess\": {}}}",
        json_string(network_text(each.network)), each.count, each.excess);
}

// The networks of the clients whose handshakes were shed most.
std::string shed_json(std::span<worker_source const> workers)
{
    std::vector<shed_network> all;
    for (worker_source const& worker : workers)
        for (shed_network const& each : worker.counts->shed.read())
            all.push_back(each);
    return fmt::format(
        "{{\"handshakes\": {}, \"networks\": {}}}", closed(workers, close_reason::handshake_shed),
        array_json(most_shed(all, limits::shed_networks_shown), network_json));
}

std::string refusal_json(refused_reload const* refused)
{
    return refused == nullptr ? "null"
                              : fmt::format(
                                    "{{\"time\": {}, \"problems\": {}, \"problem_count\": {}}}",
                                    time_json(refused->when), problems_json(refused->problems),
                                    refused->problem_count);
}

std::string upstream_json(known_upstream const& upstream)
{
    return fmt::format(
        "{{\"name\": {}, \"servers\": {}}}", json_string(upstream.name),
        array_json(upstream.servers, server_json));
}

} // namespace

std::string server_json(known_server const& server)
{
    server_row const row = server.row();
    bool const is_checked = server.check.state != check_state::none;
    bool const has_result = is_checked && server.check.state != check_state::unknown;
    std::vector<std::string> addresses;
    for (net::address const& each : row.addresses)
        addresses.push_back(net::to_string(each));
    return fmt::format(
        "{{\"server\": {}, \"addresses\": {}, \"state\": {}, \"weight\": {}, "
        "\"configured_weight\": {}, \"check\": {}, \"check_reason\": {}, \"check_changed\": {}, "
        "\"open\": {}, \"waiting\": {}, \"ready\": {}, \"connections\": {}, "
        "\"failures\": {}}}",
        json_string(server.name), json_strings(addresses), json_string(to_string(row.state)),
        row.weight, server.weight, is_checked ? json_string(to_string(server.check.state)) : "null",
        json_string(server.check.reason), has_result ? time_json(server.check.time) : "null",
        server.open(), server.waiting(), server.ready(), server.total(server_count::opened),
        server.total(server_count::failed));
}

std::string status_json(metric_sources const& sources)
{
    admin_facts const& facts = sources.facts;
    return fmt::format(
        "{{\"version\": {}, \"tls_library\": {}, \"pid\": {}, \"started\": {}, \"now\": {}, "
        "\"state\": {}, \"log_level\": {}, \"workers\": {}, \"frontends\": {}, \"configured\": {}, "
        "\"refused_reload\": {}, "
        "\"by_worker\": {}, \"shed\": {}, \"memory\": {}, \"upstreams\": {}, \"certificates\": {}, "
        "\"failures\": "
        "{}, "
        "\"sandbox\": {}, "
        "\"settings\": {}, \"changed_keys\": {}, \"configuration_file\": {}, "
        "\"metrics\": {}}}\n",
        json_string(facts.version), json_string(facts.tls_library), facts.pid,
        time_json(facts.started), time_json(sources.now),
        json_string(sources.is_draining ? "draining" : "serving"), facts.log_level,
        sources.workers.size(), json_strings(facts.frontends), time_json(facts.reloads.last_done),
        refusal_json(facts.reloads.refusal.get()), array_json(sources.workers, worker_json),
        shed_json(sources.workers), memory_json(sources),
        array_json(facts.upstreams, upstream_json), certificates_json(facts.certificates),
        failures_json(sources.workers), json_object(facts.sandbox.fields()),
        json_object(facts.settings), json_strings(facts.changed_keys),
        facts.configuration_file.empty() ? "null" : json_string(facts.configuration_file),
        metrics_json(read_metrics(sources)));
}

} // namespace cleat::app
