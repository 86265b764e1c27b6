#include "acme/challenge_maker.hpp"
#include "connection/connection_log.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/text_for_tests.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace cleat::app::connection_log_test {
namespace {

error_code system(int number)
{
    return {number, boost::system::system_category()};
}

std::unique_ptr<inbound_header> header(std::string_view text)
{
    std::span const bytes{reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
    return text.empty() ? nullptr
                        : std::make_unique<inbound_header>(keep(bytes, read_proxy_header(bytes)));
}

// A worker's service, and the log at level 1 of the connections that a test makes for it.
struct logged_service
{
    logged_service() { service.begin(*connections); }

    // The log after one more connection, to which `live` happens.
    template <class Live>
    std::string log_after(Live live)
    {
        {
            connection_log log{frontend, peer, proxy_header};
            live(log);
        }
        return folder.read("log");
    }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    net::worker worker;
    snapshot configuration;
    // On the heap: it has a cache line's alignment, which g++ 12 loses in frames that
    // AddressSanitizer keeps (its bug 110027).
    challenge_maker challenges{[] {}, {}};
    std::unique_ptr<worker_connections> connections =
        std::make_unique<worker_connections>(worker, challenges);
    worker_service service{worker, configuration, logger{*sink, log_level::warning}};
    frontend_plan plan;
    frontend_connections open{};
    frontend_socket frontend{
        .service = service,
        .plan = plan,
        .policy = {.context = &net::contexts().server},
        .name = "192.0.2.9:443",
        .open = &open};
    net::address peer = net::resolve("192.0.2.1", "1").value().front();
    std::unique_ptr<inbound_header> proxy_header;
    tls::engine engine{net::contexts().server};
};

} // namespace

TEST_CASE("every step of a connection has its own reason for an error")
{
    struct
    {
        phase where;
        error_code why;
        close_reason reason;
    } const each[] = {
        {phase::admission, error::untrusted_proxy, close_reason::untrusted_proxy},
        {phase::proxy_header, error::proxy_checksum, close_reason::bad_proxy_header},
        {phase::admission, error::client_not_allowed, close_reason::client_not_allowed},
        {phase::admission, error::client_certificate_expired,
         close_reason::client_certificate_expired},
        {phase::admission, error::address_denied, close_reason::address_denied},
        {phase::admission, error::address_not_allowed, close_reason::address_not_allowed},
        {phase::admission, error::not_tls, close_reason::handshake_failed},
        {phase::proxy_header, error::closed, close_reason::client_silent},
        {phase::proxy_header, system(ECONNRESET), close_reason::client_silent},
        {phase::proxy_header, error::bad_proxy_header, close_reason::bad_proxy_header},
        {phase::proxy_header, error::handshake_timeout, close_reason::handshake_timeout},
        {phase::proxy_header, system(ETIMEDOUT), close_reason::client_gone},
        {phase::first_byte, error::truncated, close_reason::client_silent},
        {phase::first_byte, system(ECONNRESET), close_reason::client_silent},
        {phase::first_byte, error::handshake_timeout, close_reason::handshake_timeout},
        {phase::handshake, error::truncated, close_reason::client_gone},
        {phase::handshake, system(ECONNRESET), close_reason::client_reset},
        {phase::handshake, error::handshake_timeout, close_reason::handshake_timeout},
        {phase::handshake, error::not_tls, close_reason::handshake_failed},
        {phase::connect, system(ECONNRESET), close_reason::upstream_unreachable},
        {phase::connect, error::connect_timeout, close_reason::upstream_timeout},
        {phase::connect, error::certificate_expired, close_reason::upstream_tls_failed},
        {phase::client_io, system(EPIPE), close_reason::client_reset},
        {phase::client_io, error::peer_alert, close_reason::client_failed},
        {phase::client_io, system(ENOMEM), close_reason::out_of_resources},
        {phase::upstream_io, system(ECONNRESET), close_reason::upstream_reset},
        {phase::upstream_io, system(ENOMEM), close_reason::out_of_resources},
        {phase::upstream_io, error::closed, close_reason::upstream_reset},
        {phase::upstream_io, error::truncated, close_reason::upstream_truncated},
        {phase::upstream_io, error::peer_alert, close_reason::upstream_failed},
        {phase::relay_wait, error::idle_timeout, close_reason::idle_timeout},
        {phase::linger_wait, error::idle_timeout, close_reason::linger_timeout},
        {phase::relay_wait, system(EPERM), close_reason::out_of_resources},
        {phase::linger_wait, error::stopped, close_reason::stopped},
    };
    for (auto const& row : each) {
        CAPTURE(static_cast<int>(row.where));
        CAPTURE(row.why.message());
        CHECK(name_of(reason_for(row.where, row.why)) == name_of(row.reason));
    }
}

TEST_CASE("an upstream is not to blame for what this machine has run out of")
{
    for (int const number : {EMFILE, ENFILE, ENOMEM, ENOBUFS}) {
        CAPTURE(number);
        CHECK(reason_for(phase::connect, system(number)) == close_reason::out_of_resources);
    }
    for (int const number : {ECONNREFUSED, EHOSTUNREACH, ENOENT, EADDRNOTAVAIL, ECONNRESET})
        CHECK(reason_for(phase::connect, system(number)) == close_reason::upstream_unreachable);
    CHECK(reason_for(phase::connect, error::stopped) == close_reason::stopped);

    logged_service s;
    CHECK(contains(
        s.log_after([&](connection_log& log) {
            log.connect_failed(system(EMFILE), "[127.0.0.1]:1", &s.engine);
        }),
        "level=error event=connect-"));
    CHECK(s.connections->counts().closed.value(close_reason::out_of_resources) == 1);
}

TEST_CASE("the default log names a stream that may have been cut, and is silent on a whole one")
{
    logged_service s;
    auto const log_of_end = [&](close_reason reason) {
        return s.log_after([&](connection_log& log) { log.ended(reason, {}, &s.engine); });
    };
    CHECK(log_of_end(close_reason::done).empty());
    std::string const log = log_of_end(close_reason::client_truncated);
    CHECK(contains(log, "level=warning event=connection-closed"));
    CHECK(contains(log, "reason=client-truncated"));
}

TEST_CASE("a client that leaves before its first byte is counted, and no warning")
{
    logged_service s;
    auto const log_of_handshake = [&](error_code why) {
        return s.log_after([&](connection_log& log) { log.handshake_failed(why, s.engine); });
    };
    for (error_code const why : {error_code{error::truncated}, system(ECONNRESET)})
        CHECK(log_of_handshake(why).empty());
    for (error_code const why : {error_code{error::closed}, system(ECONNRESET)})
        CHECK(s.log_after([&](connection_log& log) { log.proxy_header_failed(why); }).empty());
    CHECK(s.connections->counts().closed.value(close_reason::client_silent) == 4);
    // A silent client that stays until its deadline is a scanner: no warning either.
    CHECK(log_of_handshake(error::handshake_timeout).empty());
}

TEST_CASE("a line names the frontend, and with a PROXY header the client")
{
    struct
    {
        std::string proxy_header;
        std::string_view addresses;
    } const each[] = {
        {"", " frontend=192.0.2.9:443 peer=192.0.2.1:1 reason="},
        {"PROXY TCP4 203.0.113.7 192.0.2.9 4711 443\r\n",
         " peer=192.0.2.1:1 source=203.0.113.7:4711 reason="},
        {"PROXY TCP6 2001:db8::7 2001:db8::9 4711 443\r\n", " source=[2001:db8::7]:4711 reason="},
        {"PROXY UNKNOWN\r\n", " peer=192.0.2.1:1 reason="},
    };
    for (auto const& row : each) {
        logged_service s;
        s.proxy_header = header(row.proxy_header);
        std::string const log = s.log_after([&](connection_log& connection) {
            connection.handshake_failed(error::no_shared_version, s.engine);
        });
        CAPTURE(log);
        CHECK(contains(log, row.addresses));
    }
}

TEST_CASE("each reason of a failure has an example, with the client that a PROXY header names")
{
    logged_service s;
    failure_examples<failure_number_count> const& examples = s.connections->counts().examples;
    s.log_after([&](connection_log& log) { log.ended(close_reason::done, {}, &s.engine); });
    s.log_after([&](connection_log& log) { log.handshake_failed(error::truncated, s.engine); });
    for (std::size_t i = 0; i < failure_number_count; ++i)
        CHECK(examples.value(i) == 0); // Good ends, and a silent client.

    s.log_after([&](connection_log& log) { log.handshake_failed(error::not_tls, s.engine); });
    std::optional<failure_example> seen =
        examples.last(failure_number(failure_kind_of(error::not_tls)));
    CHECK(seen->event == failure_event::handshake);
    CHECK(seen->client.view() == "192.0.2.1:1");
    CHECK(seen->frontend.view() == "192.0.2.9:443");
    CHECK(seen->detail.view().empty());
    CHECK(failure_name(failure_number(failure_kind_of(error::not_tls))) == "not-tls");

    s.proxy_header = header("PROXY TCP4 203.0.113.7 192.0.2.9 4711 443\r\n");
    s.log_after(
        [&](connection_log& log) { log.connect_failed(system(ECONNREFUSED), "a", &s.engine); });
    seen = examples.last(failure_number(close_reason::upstream_unreachable));
    CHECK(seen->event == failure_event::connect);
    CHECK(seen->client.view() == "203.0.113.7:4711");
    CHECK(seen->detail.view() == system(ECONNREFUSED).message());

    s.log_after(
        [&](connection_log& log) { log.ended(close_reason::client_truncated, {}, &s.engine); });
    CHECK(
        examples.last(failure_number(close_reason::client_truncated))->event ==
        failure_event::relay);
    s.log_after([](connection_log& log) { log.proxy_header_failed(error::bad_proxy_header); });
    CHECK(
        examples.last(failure_number(close_reason::bad_proxy_header))->event ==
        failure_event::proxy_header);
    CHECK(failure_name(failure_number(close_reason::bad_proxy_header)) == "bad-proxy-header");
}

} // namespace cleat::app::connection_log_test
