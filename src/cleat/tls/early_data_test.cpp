// Early data: the server's application receives each byte once, whatever the server does with early
// data, and with every delivery.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/early_server_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

namespace cleat::tls::early_data_test {
namespace {

using bytes = std::vector<std::byte>;

// exchange_result is the result of a connection whose client began with early data.
struct exchange_result
{
    step early; // Of write_early.
    handshake_info info;
    bytes received;                 // By the server's application.
    std::size_t received_early = 0; // Before its handshake was done.
    std::size_t to_server = 0;      // Bytes on the wire.
    std::size_t to_client = 0;
};

struct early_data_fixture
{
    context_spec server;
    context_spec client;

    early_data_fixture()
    {
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
        server.groups = client.groups = "X25519:P-256";
        client.role = role::client;
        client.server_name = "a.test";
        client.keep_sessions = true;
    }
};

session ticket_of(context const& server, context const& client)
{
    engine_pair pair{server, client};
    REQUIRE(pair.established());
    bytes text;
    write_all(pair.server, pair.client, pattern(1));
    read_all(pair.client, pair.server, text);
    std::vector<session> sessions = pair.client.engine.take_sessions();
    REQUIRE(sessions.size() == 1);
    return std::move(sessions.front());
}

// The client sends `request`: as early data as far as it can, the rest after the handshake.
exchange_result exchange(
    context const& server, context const& client, session const& offered, bytes const& request,
    delivery to_server = {}, delivery to_client = {})
{
    engine_pair pair{server, client, to_server, to_client};
    pair.client.engine.resume(offered);
    std::span<std::byte const> const pieces[] = {request};
    exchange_result found;
    found.early = drive(
        pair.client, pair.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
    INFO(pair.client.engine.failure().reason);
    REQUIRE(!found.early.error);
    CHECK(!pair.client.engine.established());

    early_data_server early;
    step client_step{want::input};
    step server_step{want::input};
    for (int turns = 0;
         turns < 16 && (client_step.next != want::nothing || server_step.next != want::nothing);
         ++turns) {
        if (server_step.next != want::nothing)
            server_step = drive(pair.server, pair.client, [&](engine& e, wire& w) {
                return early.handshake(e, w);
            });
        REQUIRE(!server_step.error);
        if (client_step.next != want::nothing)
            client_step =
                drive(pair.client, pair.server, [](engine& e, wire& w) { return e.handshake(w); });
        REQUIRE(!client_step.error);
    }
    REQUIRE(client_step.next == want::nothing);
    REQUIRE(server_step.next == want::nothing);
    CHECK(pair.client.engine.established());

    found.info = pair.client.engine.info();
    found.received_early = early.received.size();
    found.received = std::move(early.received);
    std::size_t const done = found.info.early == early_data::accepted ? found.early.bytes : 0;
    REQUIRE(!write_all(pair.client, pair.server, std::span{request}.subspan(done)).error);

    // An answer brings the next ticket.
    bytes answer;
    write_all(pair.server, pair.client, pattern(300));
    read_all(pair.client, pair.server, answer);
    CHECK(answer == pattern(300));
    CHECK(pair.client.engine.take_sessions().size() == 1);
    REQUIRE(!close(pair.client, pair.server).error);
    CHECK(read_all(pair.server, pair.client, found.received).error == error::closed);
    found.to_server = pair.server.received.size();
    found.to_client = pair.client.received.size();
    // Views into the engine, which ends here.
    found.info.version = found.info.cipher = found.info.group = {};
    return found;
}

TEST_CASE_FIXTURE(early_data_fixture, "early data is received before the handshake is done")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    CHECK(ticket.allows_early_data());
    exchange_result const found = exchange(server_context, client_context, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::accepted);
    CHECK(found.info.resumed);
    CHECK(found.received_early == 500);
    CHECK(found.received == pattern(500));
}

TEST_CASE_FIXTURE(early_data_fixture, "a ticket that does not allow early data offers none")
{
    context const server_context{server};
    context const client_context{client};
    session const ticket = ticket_of(server_context, client_context);
    CHECK(!ticket.allows_early_data());
    exchange_result const found = exchange(server_context, client_context, ticket, pattern(500));
    CHECK(found.early.bytes == 0);
    CHECK(found.info.early == early_data::not_offered);
    CHECK(found.info.resumed);
    CHECK(found.received == pattern(500));
}

TEST_CASE_FIXTURE(
    early_data_fixture, "without a session, and with TLS 1.2's, there is no early data")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    CHECK(
        exchange(server_context, client_context, {}, pattern(9)).info.early ==
        early_data::not_offered);
    CHECK(!session{}.allows_early_data());
    client.version_max = protocol_version::tls_1_2;
    context const older{client};
    engine_pair pair{server_context, older};
    REQUIRE(pair.established());
    for (session const& each : pair.client.engine.take_sessions())
        CHECK(!each.allows_early_data());
}

TEST_CASE_FIXTURE(early_data_fixture, "a session that is resumed without data offers none")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    exchange_result const found =
        exchange(server_context, client_context, ticket_of(server_context, client_context), {});
    CHECK(found.info.early == early_data::not_offered);
    CHECK(found.info.resumed);
}

TEST_CASE_FIXTURE(early_data_fixture, "with a ticket that was used, the request still arrives")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    exchange(server_context, client_context, ticket, pattern(10));
    CHECK(exchange(server_context, client_context, ticket, pattern(10)).received == pattern(10));
}

TEST_CASE_FIXTURE(
    early_data_fixture, "the bytes beyond the session's limit are sent after the handshake")
{
    context const server_context{server};
    context const client_context{client};
    std::size_t const limit = allow_early_data(server_context, true);
    for (std::size_t const size : {limit - 1, limit, limit + 1, 3 * limit}) {
        session const ticket = ticket_of(server_context, client_context);
        exchange_result const found =
            exchange(server_context, client_context, ticket, pattern(size));
        CHECK(found.early.bytes == std::min(size, limit));
        CHECK(found.info.early == early_data::accepted);
        CHECK(found.received_early == std::min(size, limit));
        CHECK(found.received == pattern(size));
    }
}

TEST_CASE_FIXTURE(
    early_data_fixture, "a server that now rejects early data still gets every byte once")
{
    context const server_context{server};
    context const client_context{client};
    std::size_t const limit = allow_early_data(server_context, true);
    for (std::size_t const size : {std::size_t{1}, std::size_t{500}, 2 * limit}) {
        allow_early_data(server_context, true);
        session const ticket = ticket_of(server_context, client_context);
        allow_early_data(server_context, false);
        exchange_result const found =
            exchange(server_context, client_context, ticket, pattern(size));
        CHECK(found.early.bytes == std::min(size, limit));
        CHECK(found.info.early == early_data::rejected);
        CHECK(found.info.resumed);
        CHECK(found.received_early == 0);
        CHECK(found.received == pattern(size));
    }
}

TEST_CASE_FIXTURE(
    early_data_fixture, "a server with other ticket keys rejects the session and its early data")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{2}});
    context const other{server};
    allow_early_data(other, true);
    exchange_result const found = exchange(other, client_context, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::rejected);
    CHECK(!found.info.resumed);
    CHECK(found.received == pattern(500));
}

TEST_CASE_FIXTURE(early_data_fixture, "a HelloRetryRequest rejects early data")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    server.groups = "P-256"; // The client's key share is for X25519.
    context const other{server};
    allow_early_data(other, true);
    exchange_result const found = exchange(other, client_context, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::rejected);
    CHECK(found.received == pattern(500));
}

TEST_CASE_FIXTURE(
    early_data_fixture, "early data is not offered under another protocol than the session's")
{
    server.alpn = {"h2", "http/1.1"};
    context const server_context{server};
    allow_early_data(server_context, true);
    client.alpn = {"h2"};
    context const two{client};
    client.alpn = {"http/1.1"};
    context const one{client};
    client.alpn = {};
    context const none{client};
    auto const outcome = [&](context const& client_context) {
        return exchange(server_context, client_context, ticket_of(server_context, two), pattern(50))
            .info.early;
    };
    CHECK(outcome(two) == early_data::accepted);
    CHECK(outcome(one) == early_data::not_offered);
    CHECK(outcome(none) == early_data::not_offered);
}

TEST_CASE_FIXTURE(
    early_data_fixture, "a server that now chooses another protocol rejects early data")
{
    server.alpn = {"h2"};
    client.alpn = {"http/1.1", "h2"};
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    server.alpn = {"http/1.1"};
    context const other{server};
    allow_early_data(other, true);
    exchange_result const found = exchange(other, client_context, ticket, pattern(50));
    CHECK(found.info.early == early_data::rejected);
    CHECK(found.received == pattern(50));
}

TEST_CASE_FIXTURE(early_data_fixture, "early data is received once, wherever the wire is split")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    for (bool const accepted : {true, false}) {
        early_data const outcome = accepted ? early_data::accepted : early_data::rejected;
        auto const check = [&](delivery to_server, delivery to_client) {
            allow_early_data(server_context, true);
            session const ticket = ticket_of(server_context, client_context);
            allow_early_data(server_context, accepted);
            exchange_result const found =
                exchange(server_context, client_context, ticket, pattern(40), to_server, to_client);
            CHECK(found.info.early == outcome);
            CHECK(found.early.bytes == 40);
            CHECK(found.received == pattern(40));
            return found;
        };
        check({.chunk = 1}, {.chunk = 1});
        exchange_result const plain = check({}, {});
        for (std::size_t position = 1; position < plain.to_server; ++position)
            check({.split_at = position}, {});
        for (std::size_t position = 1; position < plain.to_client; ++position)
            check({}, {.split_at = position});
    }
}

TEST_CASE_FIXTURE(
    early_data_fixture, "with little room a ClientHello is sent in parts, without early data")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    for (std::size_t const room : {std::size_t{7}, std::size_t{100}, std::size_t{1000}}) {
        engine_pair pair{server_context, client_context, {}, {.room = room}};
        pair.client.engine.resume(ticket_of(server_context, client_context));
        bytes const request = pattern(50);
        std::span<std::byte const> const pieces[] = {request};
        step const s = drive(
            pair.client, pair.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
        CHECK(s.next == want::nothing);
        CHECK(s.bytes == 0);
        CHECK(pair.established());
    }
}

TEST_CASE_FIXTURE(
    early_data_fixture, "an engine that is moved after write_early still reports the rejection")
{
    context const server_context{server};
    context const client_context{client};
    allow_early_data(server_context, true);
    session const ticket = ticket_of(server_context, client_context);
    allow_early_data(server_context, false);
    engine_pair pair{server_context, client_context};
    pair.client.engine.resume(ticket);
    bytes const request = pattern(50);
    std::span<std::byte const> const pieces[] = {request};
    drive(pair.client, pair.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
    engine moved = std::move(pair.client.engine);
    pair.client.engine = std::move(moved);
    REQUIRE(pair.established());
    CHECK(pair.client.engine.info().early == early_data::rejected);
}

} // namespace
} // namespace cleat::tls::early_data_test
