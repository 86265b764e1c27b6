// The table of all metrics, and what reads them. It has more than 600 lines, most of them rows: a
// table is read by searching.

#include "admin/metric_table.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/alert.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ranges>
#include <string>
#include <utility>

namespace cleat::app {
namespace {

double seconds_of(std::chrono::nanoseconds time) noexcept
{
    return std::chrono::duration<double>{time}.count();
}

double since_1970(std::chrono::system_clock::time_point time) noexcept
{
    return std::chrono::duration<double>{time.time_since_epoch()}.count();
}

// The sum over all workers of what `value` reads of one's numbers.
template <class Value>
double sum(metric_sources const& sources, Value value)
{
    std::uint64_t all = 0;
    for (worker_source const& each : sources.workers)
        all += value(*each.counts);
    return static_cast<double>(all);
}

template <class Enum, std::size_t N>
double sum(metric_sources const& sources, counters<Enum, N> worker_counts::*member, Enum which)
{
    return sum(sources, [=](worker_counts const& each) { return (each.*member).value(which); });
}

using by_name = std::map<std::string, std::uint64_t, std::less<>>;

template <std::size_t N>
by_name sum_by_name(metric_sources const& sources, named_counts<N> worker_counts::*member)
{
    by_name all;
    for (worker_source const& worker : sources.workers)
        (worker.counts->*member).for_each([&](std::string_view name, std::uint64_t count) {
            all[std::string{name}] += count;
        });
    return all;
}

template <std::size_t N>
void add_by_name(
    metric_sources const& sources, metric_family& family, named_counts<N> worker_counts::*member,
    std::string_view label)
{
    for (auto const& [name, count] : sum_by_name(sources, member))
        family.add(static_cast<double>(count), {{label, name}});
}

template <class Counts>
void add_histogram(
    metric_sources const& sources, metric_family& family, Counts worker_counts::*member,
    metric_labels labels = {})
{
    metric_histogram all{.bounds = Counts::bounds, .labels = std::move(labels), .counts = {}};
    all.counts.resize(Counts::bucket_count);
    for (worker_source const& worker : sources.workers) {
        Counts const& times = worker.counts->*member;
        for (std::size_t i = 0; i < all.counts.size(); ++i)
            all.counts[i] += times.count(i);
        all.sum += seconds_of(times.sum());
    }
    family.histograms.push_back(std::move(all));
}

void add_reason(
    metric_sources const& sources, metric_family& family,
    std::initializer_list<close_reason> reasons)
{
    for (close_reason const each : reasons)
        family.add(
            sum(sources, &worker_counts::closed, each), {{"reason", std::string{name_of(each)}}});
}

std::uint64_t closed_of(worker_counts const& worker)
{
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < close_reason_count; ++i)
        all += worker.closed.value(static_cast<close_reason>(i));
    return all;
}

// Null without max-memory.
memory_counts const* bounded_memory(metric_sources const& sources) noexcept
{
    memory_counts const* const found = sources.facts.memory.get();
    return found != nullptr && found->limit != 0 ? found : nullptr;
}

// The ends are read first: then no connection is counted as closed and not as opened.
void read_open(metric_sources const& sources, metric_family& family)
{
    double const closed = sum(sources, closed_of);
    double const opened = sum(sources, &worker_counts::traffic, traffic_count::opened);
    family.add(std::max(opened - closed, 0.0));
}

void read_frontends_open(metric_sources const& sources, metric_family& family)
{
    by_name const closed = sum_by_name(sources, &worker_counts::frontends_closed);
    for (auto const& [name, opened] : sum_by_name(sources, &worker_counts::frontends_opened)) {
        auto const found = closed.find(name);
        std::uint64_t const ended = found == closed.end() ? 0 : found->second;
        family.add(static_cast<double>(opened - std::min(ended, opened)), {{"frontend", name}});
    }
}

void add_handshakes(
    metric_sources const& sources, metric_family& family,
    counters<handshake_kind, handshake_kind_count> worker_counts::*member)
{
    constexpr std::array<std::pair<char const*, char const*>, handshake_kind_count> kinds{
        {{"TLSv1.2", "full"}, {"TLSv1.2", "resumed"}, {"TLSv1.3", "full"}, {"TLSv1.3", "resumed"}}};
    for (std::size_t i = 0; i < kinds.size(); ++i)
        family.add(
            sum(sources, member, static_cast<handshake_kind>(i)),
            {{"version", kinds[i].first}, {"resumption", kinds[i].second}});
}

void read_tickets_used(metric_sources const& sources, metric_family& family)
{
    for (std::size_t i = 0; i < sources.facts.ticket_secrets; ++i)
        family.add(
            sum(sources, &worker_counts::tickets_used, static_cast<secret_place>(i)),
            {{"secret", std::to_string(i + 1)}});
}

void read_tickets_refused(metric_sources const& sources, metric_family& family)
{
    constexpr std::array<char const*, ticket_refusal_count> names{
        "unknown-key", "expired-or-other-scope"};
    for (std::size_t i = 0; i < names.size(); ++i)
        family.add(
            sum(sources, &worker_counts::tickets_refused, static_cast<ticket_refusal>(i)),
            {{"reason", names[i]}});
}

void read_session_ids_refused(metric_sources const& sources, metric_family& family)
{
    constexpr std::array<std::pair<char const*, session_id_use>, 2> reasons{
        {{"unknown", session_id_use::unknown},
         {"expired-or-other-scope", session_id_use::expired_or_other_scope}}};
    for (auto const& [name, use] : reasons)
        family.add(sum(sources, &worker_counts::session_ids, use), {{"reason", name}});
}

void read_handshakes(metric_sources const& sources, metric_family& family)
{
    add_handshakes(sources, family, &worker_counts::handshakes);
}

// Of servers of upstreams. The first are there from the beginning, as in read_failures.
void read_upstream_failures(metric_sources const& sources, metric_family& family)
{
    using enum error;
    for (std::size_t i = 0; i < failure_kind_count; ++i) {
        auto const kind = static_cast<failure_kind>(i);
        auto const why = static_cast<error>(i);
        bool const is_usual = why == certificate_expired || why == unknown_authority ||
                              why == wrong_name || why == bad_certificate || why == peer_alert;
        if (double const count = sum(sources, &worker_counts::upstream_failures, kind);
            count != 0 || is_usual)
            family.add(count, {{"reason", std::string{name_of(kind)}}});
    }
}

// ML-KEM, and its draft Kyber, are the only post-quantum key exchanges that TLS has.
bool is_post_quantum(std::string_view group) noexcept
{
    return group.find("MLKEM") != group.npos || group.find("Kyber") != group.npos;
}

void read_groups(metric_sources const& sources, metric_family& family)
{
    for (auto const& [name, count] : sum_by_name(sources, &worker_counts::groups))
        family.add(
            static_cast<double>(count),
            {{"group", name}, {"post_quantum", is_post_quantum(name) ? "true" : "false"}});
}

void read_failures(metric_sources const& sources, metric_family& family)
{
    for (std::size_t i = 0; i < failure_kind_count; ++i) {
        auto const kind = static_cast<failure_kind>(i);
        // Most other errors are never those of a handshake. A series that begins above 0 hides its
        // beginning from rate().
        bool const is_usual = i <= static_cast<std::size_t>(error::protocol_violation) ||
                              kind == static_cast<failure_kind>(error::truncated) ||
                              kind == static_cast<failure_kind>(error::library);
        if (double const count = sum(sources, &worker_counts::failures, kind);
            count != 0 || is_usual)
            family.add(count, {{"reason", std::string{name_of(kind)}}});
    }
}

// Those that clients and cleat send to refuse each other (RFC 8446, section 6.2): handshake_failure
// to certificate_unknown, unknown_ca, decode_error, protocol_version, internal_error,
// unrecognized_name and no_application_protocol.
constexpr std::array<std::size_t, 12> usual_alerts{40, 42, 43, 44, 45,  46,
                                                   48, 50, 70, 80, 112, 120};

// Several numbers have no name. The usual ones are there from the beginning, as in read_failures.
template <auto Phase, auto Direction>
void add_alerts(metric_sources const& sources, metric_family& family)
{
    by_name all;
    for (std::size_t i = 0; i < alert_count; ++i) {
        double const count = sum(sources, [i](worker_counts const& each) {
            return (each.*Phase.*Direction).value(static_cast<alert_number>(i));
        });
        if (count != 0 || std::ranges::find(usual_alerts, i) != usual_alerts.end())
            all[std::string{tls::alert_name(static_cast<int>(i))}] +=
                static_cast<std::uint64_t>(count);
    }
    for (auto const& [name, count] : all)
        family.add(static_cast<double>(count), {{"alert", name}});
}

void read_bytes(metric_sources const& sources, metric_family& family)
{
    family.add(
        sum(sources, &worker_counts::traffic, traffic_count::bytes_up), {{"direction", "up"}});
    family.add(
        sum(sources, &worker_counts::traffic, traffic_count::bytes_down), {{"direction", "down"}});
}

// `value` reads a number of a worker_source; nothing is left out.
template <class Value>
void add_by_worker(metric_sources const& sources, metric_family& family, Value value)
{
    for (std::size_t i = 0; i < sources.workers.size(); ++i)
        if (std::optional<double> const number = value(sources.workers[i]))
            family.add(*number, {{"worker", fmt::to_string(i)}});
}

void read_worker_cpu(metric_sources const& sources, metric_family& family)
{
    add_by_worker(sources, family, [](worker_source const& each) -> std::optional<double> {
        std::optional<std::chrono::nanoseconds> const used = each.counts->cpu_time();
        return used ? std::optional{seconds_of(*used)} : std::nullopt;
    });
}

// The same names with another file are another certificate: a key of another type.
void read_certificate_ends(metric_sources const& sources, metric_family& family)
{
    certificate_counts const& found = sources.facts.certificates;
    for (soon_certificate const& each : found.soonest | std::views::take(found.with_metric))
        family.add(
            static_cast<double>(each.end.time_since_epoch().count()),
            {{"certificate", each.origin},
             {"host", each.names.empty() ? std::string{} : each.names.front()}});
}

void add_if(metric_family& family, std::optional<std::uint64_t> number)
{
    if (number)
        family.add(static_cast<double>(*number));
}

// `use` gets each server with its labels, up to a number of them.
template <class Use>
void for_each_server(metric_sources const& sources, Use use)
{
    std::size_t left = limits::server_metrics_max;
    for (known_upstream const& upstream : sources.facts.upstreams)
        for (known_server const& server : upstream.servers)
            if (left != 0) {
                --left;
                use(server, metric_labels{{"upstream", upstream.name}, {"server", server.name}});
            }
}

// The same with a number of each.
template <class Number>
void add_for_each_server(metric_sources const& sources, metric_family& family, Number number)
{
    for_each_server(sources, [&](known_server const& each, metric_labels labels) {
        family.add(static_cast<double>(number(each)), std::move(labels));
    });
}

using sources_t = metric_sources const&;
using family_t = metric_family&;

constexpr metric_row metric_rows[] = {
    {"cleat_build", metric_type::info, "", "Version of cleat and of its TLS library",
     "version, tls_library",
     [](sources_t sources, family_t family) {
         family.add(
             1, {{"version", sources.facts.version}, {"tls_library", sources.facts.tls_library}});
     }},
    {"cleat_sandbox", metric_type::info, "",
     "The state of the sandbox: landlock is Landlock's ABI or no, and each of the others yes or no",
     "landlock, ports, seccomp, no_new_privs, core_dumps, memory_locked",
     [](sources_t sources, family_t family) {
         metric_labels labels;
         for (auto const& [name, value] : sources.facts.sandbox.fields())
             labels.push_back({name, value});
         family.add(1, std::move(labels));
     }},

    // Connections.
    {"cleat_connections", metric_type::counter, "", "Client connections accepted", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::traffic, traffic_count::opened));
     }},
    {"cleat_connections_open", metric_type::gauge, "", "Client connections that are open now", "",
     read_open},
    {"cleat_connections_closed", metric_type::counter, "",
     "Client connections that have ended, by the reason that the log names", "reason",
     [](sources_t sources, family_t family) {
         for (std::size_t i = 0; i < close_reason_count; ++i)
             add_reason(sources, family, {static_cast<close_reason>(i)});
     }},
    {"cleat_connections_refused", metric_type::counter, "",
     "Client connections that were refused, by reason: before TLS because of an address or a "
     "limit, "
     "or because of what the client's certificate says; they are among those that have ended",
     "reason",
     [](sources_t sources, family_t family) {
         add_reason(
             sources, family,
             {close_reason::untrusted_proxy, close_reason::address_denied,
              close_reason::address_not_allowed, close_reason::memory_limit,
              close_reason::connection_limit, close_reason::frontend_connection_limit,
              close_reason::route_connection_limit, close_reason::client_connection_limit,
              close_reason::client_handshake_limit, close_reason::client_not_allowed,
              close_reason::client_certificate_expired, close_reason::client_hello_changed});
     }},
    {"cleat_client_limits_shared", metric_type::counter, "",
     "Client connections for which client-table-size had no place, so that the client shared the "
     "limits of one with others",
     "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::traffic, traffic_count::limits_shared));
     }},
    {"cleat_frontend_connections", metric_type::counter, "",
     "Client connections accepted, by the address that they came to", "frontend",
     [](sources_t sources, family_t family) {
         add_by_name(sources, family, &worker_counts::frontends_opened, "frontend");
     }},
    {"cleat_frontend_connections_open", metric_type::gauge, "",
     "Client connections that are open now, by the address that they came to", "frontend",
     read_frontends_open},
    {"cleat_frontend_queued_connections", metric_type::gauge, "",
     "Connections in the kernel's queues that no worker has accepted yet, by address; a queue that "
     "workers share (socket activation) counts for each of them",
     "frontend",
     [](sources_t sources, family_t family) {
         add_by_name(sources, family, &worker_counts::frontends_queued, "frontend");
     }},
    {"cleat_plaintext_bytes", metric_type::counter, "bytes",
     "Plaintext moved, and the bytes of passthrough routes: up is from clients to upstreams",
     "direction", read_bytes},
    {"cleat_passthrough_connections", metric_type::counter, "",
     "Connections that a passthrough route has taken: the upstream ends their TLS", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::traffic, traffic_count::passed_through));
     }},

    // Handshakes.
    {"cleat_handshakes", metric_type::counter, "",
     "Finished handshakes, by version and whether a session was resumed", "version, resumption",
     read_handshakes},
    {"cleat_tickets_used", metric_type::counter, "",
     "Session tickets that resumed a session, by the place of their secret in ticket-secret: 1 is "
     "the one that seals",
     "secret", read_tickets_used},
    {"cleat_tickets_refused", metric_type::counter, "",
     "Session tickets that resumed no session, so that the handshake was a full one: of an "
     "unknown secret or epoch, or expired, or of another frontend or other settings",
     "reason", read_tickets_refused},
    {"cleat_session_ids_used", metric_type::counter, "",
     "Session IDs that resumed a session of session-cache, without a ticket", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::session_ids, session_id_use::resumed));
     }},
    {"cleat_session_ids_refused", metric_type::counter, "",
     "Session IDs that resumed no session, so that the handshake was a full one: not in the "
     "cache, or not any more, or of another frontend or other settings",
     "reason", read_session_ids_refused},
    {"cleat_resumed_session_age_seconds", metric_type::histogram, "seconds",
     "Age of the sessions that were resumed, by a ticket or by the session's ID: in TLS 1.3 since "
     "the handshake that sent the ticket, in TLS 1.2 since the session's full handshake",
     "by",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::ticket_ages, {{"by", "ticket"}});
         add_histogram(sources, family, &worker_counts::id_ages, {{"by", "id"}});
     }},
    {"cleat_handshakes_by_cipher", metric_type::counter, "", "Finished handshakes, by cipher suite",
     "cipher",
     [](sources_t sources, family_t family) {
         add_by_name(sources, family, &worker_counts::ciphers, "cipher");
     }},
    {"cleat_handshakes_by_group", metric_type::counter, "",
     "Finished handshakes, by key exchange group", "group, post_quantum", read_groups},
    {"cleat_handshakes_by_signature_scheme", metric_type::counter, "",
     "Finished full handshakes, by the signature scheme of cleat's own signature", "scheme",
     [](sources_t sources, family_t family) {
         add_by_name(sources, family, &worker_counts::signature_schemes, "scheme");
     }},
    {"cleat_handshakes_failed", metric_type::counter, "",
     "Handshakes that failed, by reason: an error that the log names, reset, or system for "
     "another error of the system's; a client that closes before its first byte does not count",
     "reason", read_failures},
    {"cleat_handshake_alerts_received", metric_type::counter, "",
     "Alerts with which clients ended a handshake", "alert",
     add_alerts<&worker_counts::handshake_alerts, &alert_counts::received>},
    {"cleat_handshake_alerts_sent", metric_type::counter, "",
     "Alerts with which cleat ended a handshake", "alert",
     add_alerts<&worker_counts::handshake_alerts, &alert_counts::sent>},
    {"cleat_connection_alerts_received", metric_type::counter, "",
     "Alerts with which clients ended an established connection", "alert",
     add_alerts<&worker_counts::connection_alerts, &alert_counts::received>},
    {"cleat_connection_alerts_sent", metric_type::counter, "",
     "Alerts with which cleat ended an established connection", "alert",
     add_alerts<&worker_counts::connection_alerts, &alert_counts::sent>},

    // Upstreams that speak TLS.
    {"cleat_upstream_handshakes", metric_type::counter, "",
     "Finished handshakes with servers of upstreams, by version and whether a session was resumed",
     "version, resumption",
     [](sources_t sources, family_t family) {
         add_handshakes(sources, family, &worker_counts::upstream_handshakes);
     }},
    {"cleat_upstream_handshakes_failed", metric_type::counter, "",
     "Handshakes with servers of upstreams that failed, by reason; the next server may have taken "
     "the client",
     "reason", read_upstream_failures},

    // Times.
    {"cleat_accept_to_handshake_seconds", metric_type::histogram, "seconds",
     "Time from accepting a connection to the end of its handshake", "",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::until_established);
     }},
    {"cleat_handshake_phase_seconds", metric_type::histogram, "seconds",
     "The parts of that time: client_hello, until the loop woke up for the whole ClientHello; "
     "answer, from there until key share and signature were made, with waits in the line of full "
     "handshakes, for a busy worker and for a certificate's file; finish, from there to the end, "
     "mostly the client and the network",
     "phase",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::until_hello, {{"phase", "client_hello"}});
         add_histogram(sources, family, &worker_counts::hello_to_answer, {{"phase", "answer"}});
         add_histogram(
             sources, family, &worker_counts::answer_to_established, {{"phase", "finish"}});
     }},
    {"cleat_accept_to_connect_seconds", metric_type::histogram, "seconds",
     "Time from accepting a connection until the upstream has accepted", "",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::until_connected);
     }},
    {"cleat_accept_to_first_byte_seconds", metric_type::histogram, "seconds",
     "Time from accepting a connection to the first byte of the upstream", "",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::until_first_byte);
     }},
    {"cleat_connection_duration_seconds", metric_type::histogram, "seconds",
     "Time from accepting a connection to its end", "",
     [](sources_t sources, family_t family) {
         add_histogram(sources, family, &worker_counts::until_closed);
     }},

    // Upstream.
    {"cleat_local_ports_used_up", metric_type::counter, "",
     "Connects to a server that found no free local port, at any address of upstream-source; the "
     "connection then tries other servers",
     "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::traffic, traffic_count::ports_used_up));
     }},
    {"cleat_local_port_waits", metric_type::counter, "",
     "Connections that have waited for a local port, because none was free to any server", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, &worker_counts::traffic, traffic_count::ports_awaited));
     }},
    {"cleat_upstream_errors", metric_type::counter, "",
     "Connections that the upstream has broken or not accepted, or that no server could take",
     "reason",
     [](sources_t sources, family_t family) {
         add_reason(
             sources, family,
             {close_reason::upstream_unreachable, close_reason::upstream_timeout,
              close_reason::servers_full, close_reason::no_server, close_reason::upstream_reset,
              close_reason::upstream_tls_failed, close_reason::upstream_truncated,
              close_reason::upstream_failed});
     }},

    {"cleat_upstream_server_connections", metric_type::counter, "",
     "Connections that a server of an upstream has accepted", "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(sources, family, [](known_server const& each) {
             return each.total(server_count::opened);
         });
     }},
    {"cleat_upstream_server_connections_open", metric_type::gauge, "",
     "Connections that a server has now", "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(sources, family, [](known_server const& each) { return each.open(); });
     }},
    {"cleat_upstream_server_connections_waiting", metric_type::gauge, "",
     "Connections that wait for a server, because it has as many as its max-connections",
     "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(
             sources, family, [](known_server const& each) { return each.waiting(); });
     }},
    {"cleat_upstream_server_connections_ready", metric_type::gauge, "",
     "Connections to a server that are ready before a client needs them: see preconnect",
     "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(
             sources, family, [](known_server const& each) { return each.ready(); });
     }},
    {"cleat_upstream_server_ready_taken", metric_type::counter, "",
     "Clients that have got a connection which was ready", "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(sources, family, [](known_server const& each) {
             return each.total(server_count::ready_taken);
         });
     }},
    {"cleat_upstream_server_ready_missed", metric_type::counter, "",
     "Clients for which no connection was ready, though preconnect is on", "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(sources, family, [](known_server const& each) {
             return each.total(server_count::ready_missed);
         });
     }},
    {"cleat_upstream_server_connect_failures", metric_type::counter, "",
     "Times that a server has not accepted a connection, which went on to another server where "
     "there was one",
     "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(sources, family, [](known_server const& each) {
             return each.total(server_count::failed);
         });
     }},
    {"cleat_upstream_server_weight", metric_type::gauge, "",
     "The weight of a server in force: the configuration's or the operator's", "upstream, server",
     [](sources_t sources, family_t family) {
         add_for_each_server(
             sources, family, [](known_server const& each) { return each.row().weight; });
     }},
    {"cleat_upstream_server_state", metric_type::gauge, "",
     "1 for the state that a server is in, else 0: serving, down by its checks, or drained by an "
     "operator",
     "upstream, server, state",
     [](sources_t sources, family_t family) {
         for_each_server(sources, [&](known_server const& each, metric_labels const& labels) {
             server_state const present = each.row().state;
             for (server_state const state :
                  {server_state::serving, server_state::down, server_state::drained}) {
                 metric_labels more = labels;
                 more.push_back({"state", std::string{to_string(state)}});
                 family.add(state == present ? 1 : 0, std::move(more));
             }
         });
     }},
    {"cleat_upstream_server_check_passed", metric_type::gauge, "",
     "1 where the checks of a server pass, 0 where they fail; none before the first result",
     "upstream, server",
     [](sources_t sources, family_t family) {
         for_each_server(sources, [&](known_server const& each, metric_labels labels) {
             check_state const found = each.check.state;
             if (found == check_state::passed || found == check_state::failed)
                 family.add(found == check_state::passed ? 1 : 0, std::move(labels));
         });
     }},
    {"cleat_dns_lookups", metric_type::counter, "",
     "Lookups of servers' names since the start, by outcome; those of the start itself do not "
     "count",
     "outcome",
     [](sources_t sources, family_t family) {
         if (sources.facts.names == nullptr)
             return;
         family.add(
             static_cast<double>(sources.facts.names->answered.load()), {{"outcome", "answered"}});
         family.add(
             static_cast<double>(sources.facts.names->failed.load()), {{"outcome", "failed"}});
     }},
    {"cleat_dns_names_failing", metric_type::gauge, "",
     "Servers' names whose last lookup has failed; their last good addresses are kept", "",
     [](sources_t sources, family_t family) {
         if (sources.facts.names != nullptr)
             family.add(static_cast<double>(sources.facts.names->failing.load()));
     }},

    // Workers.
    {"cleat_worker_holds", metric_type::counter, "",
     "Workers that did not answer for two seconds, which the log names", "",
     [](sources_t sources, family_t family) {
         if (sources.facts.holds != nullptr)
             family.add(static_cast<double>(sources.facts.holds->holds.load()));
     }},
    {"cleat_workers_held", metric_type::gauge, "", "Workers that do not answer now", "",
     [](sources_t sources, family_t family) {
         if (sources.facts.holds != nullptr)
             family.add(static_cast<double>(sources.facts.holds->held.load()));
     }},
    {"cleat_memory_limit_bytes", metric_type::gauge, "bytes", "The value of max-memory", "",
     [](sources_t sources, family_t family) {
         if (memory_counts const* const now = bounded_memory(sources))
             family.add(static_cast<double>(now->limit.load()));
     }},
    {"cleat_memory_used_bytes", metric_type::gauge, "bytes",
     "What counts for max-memory, when it was last read", "",
     [](sources_t sources, family_t family) {
         if (memory_counts const* const now = bounded_memory(sources))
             family.add(static_cast<double>(now->in_use.load()));
     }},
    {"cleat_memory_level", metric_type::gauge, "",
     "How near max-memory is: 0 is normal, 1 is tight, and at 2 new connections are refused", "",
     [](sources_t sources, family_t family) {
         if (memory_counts const* const now = bounded_memory(sources))
             family.add(static_cast<double>(now->level.load()));
     }},
    {"cleat_memory_level_changes", metric_type::counter, "",
     "Times that the level of memory has changed", "",
     [](sources_t sources, family_t family) {
         if (memory_counts const* const now = bounded_memory(sources))
             family.add(static_cast<double>(now->changes.load()));
     }},
    {"cleat_memory_reading_failures", metric_type::counter, "",
     "Readings of the memory in use that have failed: workers go on with what they were told "
     "before",
     "",
     [](sources_t sources, family_t family) {
         if (memory_counts const* const now = bounded_memory(sources))
             family.add(static_cast<double>(now->failures.load()));
     }},
    {"cleat_workers", metric_type::gauge, "", "Workers that have not ended", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, [](worker_counts const& each) { return each.ended ? 0U : 1U; }));
     }},
    {"cleat_worker_cpu_seconds", metric_type::counter, "seconds",
     "CPU time of a worker's thread: its rate is the busy share", "worker", read_worker_cpu},
    {"cleat_worker_passes", metric_type::counter, "", "Passes of a worker's event loop", "worker",
     [](sources_t sources, family_t family) {
         add_by_worker(sources, family, [](worker_source const& each) {
             return std::optional{static_cast<double>(each.worker->passes())};
         });
     }},

    {"cleat_handshakes_waiting", metric_type::gauge, "",
     "Full handshakes that wait for a worker's time, where more connect than it can serve", "",
     [](sources_t sources, family_t family) {
         family.add(sum(sources, [](worker_counts const& each) {
             return each.ended ? 0 : each.handshakes_waiting.load(std::memory_order_relaxed);
         }));
     }},
    {"cleat_worker_cpu_limit_waits", metric_type::counter, "",
     "Times that a worker has let transfers and handshakes wait to keep below the control group's "
     "CPU quota",
     "worker",
     [](sources_t sources, family_t family) {
         add_by_worker(sources, family, [](worker_source const& each) {
             return std::optional{static_cast<double>(each.worker->credit_waits())};
         });
     }},
    {"cleat_worker_longest_turn_seconds", metric_type::gauge, "seconds",
     "The longest pass of a worker's event loop, without its wait for events, in the last one to "
     "two "
     "minutes",
     "worker",
     [](sources_t sources, family_t family) {
         add_by_worker(sources, family, [](worker_source const& each) {
             return std::optional{seconds_of(each.worker->longest_turn())};
         });
     }},

    // Certificates and tickets.
    {"cleat_certificates", metric_type::gauge, "", "Certificates of the configuration", "",
     [](sources_t sources, family_t family) {
         family.add(static_cast<double>(sources.facts.certificates.all));
     }},
    {"cleat_certificates_expired", metric_type::gauge, "",
     "Expired certificates; counted at a start, after a reload and each hour", "",
     [](sources_t sources, family_t family) {
         family.add(static_cast<double>(sources.facts.certificates.at(expiry_stage::over)));
     }},
    {"cleat_certificates_expiring", metric_type::gauge, "",
     "Certificates that end within 30 days (notice), 7 days (warning) or one day (error), or less "
     "where they are short-lived, each in one grade; counted as the expired ones are",
     "grade",
     [](sources_t sources, family_t family) {
         for (auto const stage : {expiry_stage::soon, expiry_stage::sooner, expiry_stage::last})
             family.add(
                 static_cast<double>(sources.facts.certificates.at(stage)),
                 {{"grade", std::string{grade_of(stage)}}});
     }},
    {"cleat_certificate_soonest_expiry_timestamp_seconds", metric_type::gauge, "seconds",
     "The end of the certificate that ends first, since 1970", "",
     [](sources_t sources, family_t family) {
         if (auto const& end = sources.facts.certificates.soonest_end)
             family.add(static_cast<double>(end->time_since_epoch().count()));
     }},
    {"cleat_crl_soonest_next_update_timestamp_seconds", metric_type::gauge, "seconds",
     "The nextUpdate of the CRL that becomes stale first, since 1970; one that is stale already "
     "included",
     "",
     [](sources_t sources, family_t family) {
         if (auto const& end = sources.facts.soonest_crl_end)
             family.add(static_cast<double>(end->time_since_epoch().count()));
     }},
    {"cleat_certificate_expiry_timestamp_seconds", metric_type::gauge, "seconds",
     "The ends of the certificates that end first, since 1970: as many as certificate-metrics "
     "says, "
     "with the first name of each",
     "certificate, host", read_certificate_ends},
    {"cleat_ticket_state_failures", metric_type::counter, "",
     "Times that the file of ticket-ratchet was not written, or a state in it not moved on: see "
     "ticket-state-not-written in the log",
     "",
     [](sources_t sources, family_t family) {
         if (sources.facts.ticket_file != nullptr)
             family.add(static_cast<double>(sources.facts.ticket_file->failures.load()));
     }},
    {"cleat_ticket_key_epoch", metric_type::gauge, "",
     "Number of the present key of session tickets: one more after each rotation", "",
     [](sources_t sources, family_t family) {
         if (auto const& rotation = sources.facts.ticket_rotation)
             family.add(static_cast<double>(tls::ticket_epoch(*rotation, sources.now)));
     }},

    // Reloads and log.
    {"cleat_reloads", metric_type::counter, "", "Reloads, by their outcome", "outcome",
     [](sources_t sources, family_t family) {
         family.add(static_cast<double>(sources.facts.reloads.done), {{"outcome", "done"}});
         family.add(static_cast<double>(sources.facts.reloads.refused), {{"outcome", "refused"}});
     }},
    {"cleat_last_reload_successful", metric_type::gauge, "",
     "1, or 0 where the last reload was refused", "",
     [](sources_t sources, family_t family) {
         family.add(sources.facts.reloads.last_was_done ? 1 : 0);
     }},
    {"cleat_configuration_timestamp_seconds", metric_type::gauge, "seconds",
     "When the present configuration was put into service, since 1970", "",
     [](sources_t sources, family_t family) {
         family.add(since_1970(sources.facts.reloads.last_done));
     }},
    {"cleat_configurations", metric_type::gauge, "",
     "Configurations in use after the last reload: those of older connections, and the present one",
     "",
     [](sources_t sources, family_t family) {
         family.add(static_cast<double>(sources.facts.configurations));
     }},
    {"cleat_log_lines_lost", metric_type::counter, "", "Log lines that could not be written", "",
     [](sources_t sources, family_t family) {
         std::uint64_t const now = sources.facts.log ? sources.facts.log->lines_lost() : 0;
         family.add(static_cast<double>(sources.facts.lines_lost_before + now));
     }},
    {"cleat_access_log_lines_lost", metric_type::counter, "",
     "Lines of the access log for which there was no room, because its disk or reader took none",
     "",
     [](sources_t sources, family_t family) {
         std::uint64_t const now = sources.facts.access ? sources.facts.access->lines_lost() : 0;
         auto const& before = sources.facts.access_lines_lost_before;
         family.add(static_cast<double>((before ? before->load() : 0) + now));
     }},
    {"cleat_draining", metric_type::gauge, "",
     "1 from the beginning of a drain: /readyz says no. After drain-delay no connections are "
     "accepted",
     "", [](sources_t sources, family_t family) { family.add(sources.is_draining ? 1 : 0); }},

    // The process, with the names that Prometheus clients have for these.
    {"process_cpu_seconds", metric_type::counter, "seconds", "CPU time of the process", "",
     [](sources_t sources, family_t family) { family.add(sources.process.cpu_seconds); }},
    {"process_resident_memory_bytes", metric_type::gauge, "bytes", "Memory in use (VmRSS)", "",
     [](sources_t sources, family_t family) { add_if(family, sources.process.resident_bytes); }},
    {"process_virtual_memory_bytes", metric_type::gauge, "bytes", "Address space (VmSize)", "",
     [](sources_t sources, family_t family) { add_if(family, sources.process.virtual_bytes); }},
    {"process_open_fds", metric_type::gauge, "", "Open descriptors", "",
     [](sources_t sources, family_t family) { add_if(family, sources.process.open_fds); }},
    {"process_max_fds", metric_type::gauge, "", "Descriptors that the process may open", "",
     [](sources_t sources, family_t family) { add_if(family, sources.process.max_fds); }},
    {"process_start_time_seconds", metric_type::gauge, "seconds",
     "When the process began to serve, since 1970", "",
     [](sources_t sources, family_t family) { family.add(since_1970(sources.facts.started)); }},
};

constexpr std::string_view metrics_page_top = R"(# Metrics

<!-- Made from apps/cleat/admin/metric_table.cpp: change it there. -->

`/metrics` of the [admin server](../guides/metrics.md) has these. A label whose values are a TLS
library's names has at most 24 values, and `frontend` 64; all others count as `other`. The first
1000 servers of upstreams have series. `worker` is a number from 0. Counters begin at 0 with the
process, and go on through reloads. Times are those at which a worker's event loop woke up, so they
are exact to one pass of the loop.

)";

constexpr fmt::string_view page_end = R"(
The buckets of the histograms end at {} seconds; those of a session's age at {} seconds.
)";

std::string bounds_text(std::span<std::chrono::nanoseconds const> bounds)
{
    std::string text;
    for (std::chrono::nanoseconds const each : bounds)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", seconds_of(each));
    return text;
}

} // namespace

std::span<metric_row const> metric_table() noexcept
{
    return metric_rows;
}

std::vector<metric_family> read_metrics(metric_sources const& sources)
{
    std::vector<metric_family> metrics;
    metrics.reserve(std::size(metric_rows));
    for (metric_row const& row : metric_rows)
        row.read(sources, metrics.emplace_back(row));
    return metrics;
}

std::string metrics_reference()
{
    std::string page{metrics_page_top};
    page += "| name | type | labels | |\n|---|---|---|---|\n";
    for (metric_row const& row : metric_rows)
        page += fmt::format(
            "| `{}` | {} | {} | {} |\n", full_name(row), name_of(row.type), row.labels, row.help);
    page += fmt::format(page_end, bounds_text(connection_bounds), bounds_text(session_bounds));
    return page;
}

} // namespace cleat::app
