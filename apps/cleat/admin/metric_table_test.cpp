#include "admin/metric_table.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace cleat::app::metric_table_test {
namespace {

bool is_name(std::string_view text)
{
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == text.npos;
}

tls::handshake_info agreed(std::string_view scheme, bool resumed = false)
{
    tls::handshake_info info;
    info.version = "TLSv1.3";
    info.cipher = "TLS_AES_128_GCM_SHA256";
    info.group = "X25519MLKEM768";
    info.signature_scheme = scheme;
    info.resumed = resumed;
    return info;
}

// A worker that does not run, and its numbers.
struct one_worker
{
    std::vector<metric_family> read()
    {
        std::vector<worker_source> const sources{{counts.get(), &worker, nullptr}};
        return read_metrics({sources, facts, {}, now, false});
    }

    metric_family find(std::string_view name)
    {
        for (metric_family& each : read())
            if (each.row.name == name)
                return each;
        FAIL("there is no " << std::string{name});
        std::abort();
    }

    // The value with this text as a label's value.
    double value(std::string_view name, std::string_view label)
    {
        for (metric_value const& each : find(name).values)
            for (metric_label const& one : each.labels)
                if (one.value == label)
                    return each.number;
        return -1;
    }

    net::worker worker;
    std::unique_ptr<worker_counts> counts = std::make_unique<worker_counts>();
    admin_facts facts;
    std::chrono::system_clock::time_point now{std::chrono::hours{30}};
};

} // namespace

TEST_CASE("names follow Prometheus's conventions")
{
    std::set<std::string_view> names;
    for (metric_row const& row : metric_table()) {
        INFO(std::string{row.name});
        CHECK(names.insert(row.name).second);
        CHECK(is_name(row.name));
        CHECK((row.name.starts_with("cleat_") || row.name.starts_with("process_")));
        CHECK_FALSE(row.name.ends_with("_total"));
        CHECK_FALSE(row.name.ends_with("_info"));
        CHECK(row.name.ends_with(row.unit));
        CHECK((row.type != metric_type::histogram || row.unit == "seconds"));
        CHECK_FALSE(row.help.empty());
        CHECK_FALSE(row.help.ends_with('.'));
    }
}

TEST_CASE("samples have the labels that the table names")
{
    one_worker each;
    each.counts->established(agreed("ecdsa_secp256r1_sha256"));
    each.counts->failed(error::not_tls, 40);
    static_cast<void>(each.counts->of_frontend("f"));
    for (metric_family const& family : each.read())
        for (metric_value const& value : family.values) {
            std::string labels;
            for (metric_label const& label : value.labels)
                labels.append(labels.empty() ? "" : ", ").append(label.name);
            CHECK_MESSAGE(labels == family.row.labels, std::string{family.row.name});
        }
}

TEST_CASE("a server of an upstream has its numbers, its state and its checks")
{
    known_server server;
    server.name = "[10.0.0.1]:80";
    server.addresses.emplace_back(); // Without one it would be drained.
    server.weight = 3;
    server.operators_weight = 7;
    server.is_down = true;
    server.counts = std::make_shared<counts_by_worker>(2);
    (*server.counts)[0].add(server_count::opened, 5);
    (*server.counts)[1].add(server_count::opened, 2);
    (*server.counts)[1].add(server_count::closed, 4);
    (*server.counts)[0].add(server_count::failed, 9);
    (*server.counts)[0].add(server_count::queued, 2);
    (*server.counts)[0].add(server_count::waited, 1);
    one_worker each;
    each.facts.upstreams.push_back({.name = "app", .servers = {server}});
    std::string const prefix = "cleat_upstream_server_";
    CHECK(each.value(prefix + "connections", "app") == 7);
    CHECK(each.value(prefix + "connections_open", "[10.0.0.1]:80") == 3);
    CHECK(each.value(prefix + "connections_waiting", "app") == 1);
    CHECK(each.value(prefix + "connect_failures", "app") == 9);
    CHECK(each.value(prefix + "weight", "app") == 7);
    CHECK(each.value(prefix + "state", "serving") == 0);
    CHECK(each.value(prefix + "state", "down") == 1);
    CHECK(each.value(prefix + "state", "drained") == 0);
    CHECK(each.find(prefix + "check_passed").values.empty()); // There is no result.
    each.facts.upstreams[0].servers[0].check.state = check_state::failed;
    CHECK(each.value(prefix + "check_passed", "app") == 0);
}

TEST_CASE("servers have metrics up to a number of them")
{
    one_worker each;
    for (int i = 0; i < 20; ++i) {
        known_upstream made{.name = std::to_string(i)};
        made.servers.resize(64);
        each.facts.upstreams.push_back(std::move(made));
    }
    CHECK(each.find("cleat_upstream_server_weight").values.size() == limits::server_metrics_max);
    CHECK(each.find("cleat_upstream_server_state").values.size() == 3 * limits::server_metrics_max);
}

TEST_CASE("handshakes are counted by what was agreed on")
{
    one_worker each;
    each.counts->established(agreed("ecdsa_secp256r1_sha256"));
    each.counts->established(agreed("", true));
    CHECK(each.find("cleat_handshakes").values[2].number == 1);
    CHECK(each.find("cleat_handshakes").values[3].number == 1);
    CHECK(each.value("cleat_handshakes_by_cipher", "TLS_AES_128_GCM_SHA256") == 2);
    CHECK(each.value("cleat_handshakes_by_group", "true") == 2);
    CHECK(each.value("cleat_handshakes_by_signature_scheme", "ecdsa_secp256r1_sha256") == 1);
}

TEST_CASE("failures have the names of the log, and of the alerts")
{
    one_worker each;
    each.counts->failed(error::no_shared_cipher, -1, 40);
    each.counts->failed(error::peer_alert, 48);
    each.counts->failed(error::peer_alert, 255);
    each.counts->failed({ECONNRESET, boost::system::system_category()}, -1);
    each.counts->failed({ETIMEDOUT, boost::system::system_category()}, -1);
    CHECK(each.value("cleat_handshakes_failed", "no-shared-cipher") == 1);
    CHECK(each.value("cleat_handshakes_failed", "peer-alert") == 2);
    CHECK(each.value("cleat_handshakes_failed", "reset") == 1);
    CHECK(each.value("cleat_handshakes_failed", "system") == 1);
    CHECK(each.value("cleat_handshake_alerts_received", "unknown_ca") == 1);
    CHECK(each.value("cleat_handshake_alerts_received", "unknown") == 1);
    CHECK(each.value("cleat_handshake_alerts_received", "handshake_failure") == 0);
    CHECK(each.value("cleat_handshake_alerts_sent", "handshake_failure") == 1);
    CHECK(each.value("cleat_connection_alerts_received", "unknown_ca") == 0);
    each.counts->connection_alerts.add(20, 80);
    CHECK(each.value("cleat_connection_alerts_received", "bad_record_mac") == 1);
    CHECK(each.value("cleat_connection_alerts_sent", "internal_error") == 1);
    CHECK(each.value("cleat_handshake_alerts_received", "bad_record_mac") == -1);
}

TEST_CASE("open connections are those that have not closed")
{
    one_worker each;
    each.counts->traffic.add(traffic_count::opened, 3);
    each.counts->closed.add(close_reason::done);
    frontend_counts const frontend = each.counts->of_frontend("127.0.0.1:443");
    frontend.opened->add(3);
    frontend.closed->add(1);
    CHECK(each.find("cleat_connections_open").values[0].number == 2);
    CHECK(each.value("cleat_frontend_connections_open", "127.0.0.1:443") == 2);
    // A reader may see an end before its beginning.
    each.counts->closed.add(close_reason::done, 5);
    CHECK(each.find("cleat_connections_open").values[0].number == 0);
}

TEST_CASE("a fact that there is none of has no sample")
{
    one_worker each;
    CHECK(each.find("cleat_certificate_soonest_expiry_timestamp_seconds").values.empty());
    CHECK(each.find("cleat_ticket_key_epoch").values.empty());
    CHECK(each.find("cleat_crl_soonest_next_update_timestamp_seconds").values.empty());
    each.facts.soonest_crl_end = std::chrono::sys_seconds{std::chrono::seconds{8}};
    CHECK(each.find("cleat_crl_soonest_next_update_timestamp_seconds").values[0].number == 8);
    each.facts.certificates.soonest_end = std::chrono::sys_seconds{std::chrono::seconds{9}};
    each.facts.ticket_rotation = std::chrono::hours{12};
    CHECK(each.find("cleat_certificate_soonest_expiry_timestamp_seconds").values[0].number == 9);
    CHECK(each.find("cleat_ticket_key_epoch").values[0].number == 2);
}

TEST_CASE("a ticket counts by the place of its secret, or by the reason for which it was refused")
{
    one_worker each;
    each.facts.ticket_secrets = 2;
    auto const count = [&](tls::client_ticket ticket, bool resumed) {
        tls::handshake_info info = agreed("", resumed);
        info.ticket = ticket;
        each.counts->established(info);
    };
    count({}, false);
    CHECK(each.value("cleat_tickets_used", "1") == 0);
    CHECK(each.value("cleat_tickets_refused", "unknown-key") == 0);
    count({tls::ticket_use::opened, 0}, true);
    count({tls::ticket_use::opened, 1}, true);
    count({tls::ticket_use::opened, 1}, true);
    CHECK(each.value("cleat_tickets_used", "1") == 1);
    CHECK(each.value("cleat_tickets_used", "2") == 2);
    CHECK(each.find("cleat_tickets_used").values.size() == 2);
    count({tls::ticket_use::opened, 0}, false);
    CHECK(each.value("cleat_tickets_refused", "expired-or-other-scope") == 1);
    count({tls::ticket_use::unknown_key}, false);
    CHECK(each.value("cleat_tickets_refused", "unknown-key") == 1);
    CHECK(each.value("cleat_tickets_used", "1") == 1);
}

TEST_CASE("a session ID counts apart from tickets, as used or by the reason for its refusal")
{
    one_worker each;
    each.facts.ticket_secrets = 1;
    auto const count = [&](tls::ticket_use use, bool resumed) {
        tls::handshake_info info = agreed("", resumed);
        info.ticket.use = use;
        each.counts->established(info);
    };
    count(tls::ticket_use::found_id, true);
    count(tls::ticket_use::found_id, true);
    count(tls::ticket_use::found_id, false);
    count(tls::ticket_use::unknown_id, false);
    count(tls::ticket_use::opened, true);
    CHECK(each.find("cleat_session_ids_used").values[0].number == 2);
    CHECK(each.value("cleat_session_ids_refused", "expired-or-other-scope") == 1);
    CHECK(each.value("cleat_session_ids_refused", "unknown") == 1);
    CHECK(each.value("cleat_tickets_used", "1") == 1);
}

TEST_CASE("the age of a session is counted where it was resumed, by a ticket or by its ID")
{
    one_worker each;
    auto const count = [&](tls::ticket_use use, std::uint32_t age, bool resumed) {
        tls::handshake_info info = agreed("", resumed);
        info.ticket = {.use = use, .age = age};
        each.counts->established(info);
    };
    count(tls::ticket_use::opened, 0, true);
    count(tls::ticket_use::opened, 3600, true);
    count(tls::ticket_use::opened, 7, false); // Expired, perhaps.
    count(tls::ticket_use::found_id, 11, true);
    count(tls::ticket_use::none, 0, false);
    metric_family const found = each.find("cleat_resumed_session_age_seconds");
    REQUIRE(found.histograms.size() == 2);
    metric_histogram const& tickets = found.histograms[0];
    CHECK(tickets.labels[0].value == "ticket");
    CHECK(tickets.counts == std::vector<std::uint64_t>{1, 0, 0, 1, 0, 0, 0, 0});
    CHECK(tickets.sum == 3600);
    CHECK(tickets.bounds[3] == std::chrono::hours{1});
    CHECK(found.histograms[1].counts == std::vector<std::uint64_t>{0, 1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("the certificates that end first have metrics with their names, as many as are asked for")
{
    one_worker each;
    std::chrono::sys_seconds const end{std::chrono::seconds{9}};
    each.facts.certificates.soonest = {
        {.origin = "a.pem", .names = {"a.example", "b.example"}, .name_count = 2, .end = end},
        {.origin = "c.pem", .end = end},
        {.origin = "d.pem", .end = end}};
    CHECK(each.find("cleat_certificate_expiry_timestamp_seconds").values.empty());
    each.facts.certificates.with_metric = 2;
    CHECK(each.find("cleat_certificate_expiry_timestamp_seconds").values.size() == 2);
    CHECK(each.value("cleat_certificate_expiry_timestamp_seconds", "a.example") == 9);
    CHECK(each.value("cleat_certificate_expiry_timestamp_seconds", "c.pem") == 9);
}

TEST_CASE("the page in docs is the table's")
{
    std::ifstream page{CLEAT_METRICS_PAGE};
    std::string const text{std::istreambuf_iterator<char>{page}, {}};
    INFO("make it again: cleat --metrics-reference > docs/reference/metrics.md");
    CHECK((text == metrics_reference())); // in parentheses: a failure shall not print both
}

} // namespace cleat::app::metric_table_test
