// Early data: what a client says with its ClientHello is heard once, whatever the server does with
// it and however the bytes come.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/early_server_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

namespace cleat::tls {
namespace {

using bytes = std::vector<std::byte>;

// said is how a connection went whose client began with early data.
struct said
{
    step early; // Of write_early.
    handshake_info info;
    bytes heard;                 // By the server's application.
    std::size_t heard_early = 0; // Before its handshake was done.
    std::size_t to_server = 0;   // Bytes on the wire.
    std::size_t to_client = 0;
};

struct fixture
{
    context_spec server;
    context_spec client;

    fixture()
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
    duet both{server, client};
    REQUIRE(both.established());
    bytes got;
    write_all(both.server, both.client, pattern(1));
    read_all(both.client, both.server, got);
    std::vector<session> given = both.client.engine.take_sessions();
    REQUIRE(given.size() == 1);
    return std::move(given.front());
}

// The client asks `request` as early as it may, and the rest once it knows.
said ask(
    context const& server, context const& client, session const& with, bytes const& request,
    delivery to_server = {}, delivery to_client = {})
{
    duet both{server, client, to_server, to_client};
    both.client.engine.resume(with);
    std::span<std::byte const> const pieces[] = {request};
    said found;
    found.early = drive(
        both.client, both.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
    INFO(both.client.engine.failure().reason);
    REQUIRE(!found.early.error);
    CHECK(!both.client.engine.established());

    early_listener listener;
    step of_client{want::input};
    step of_server{want::input};
    for (int turns = 0;
         turns < 16 && (of_client.next != want::nothing || of_server.next != want::nothing);
         ++turns) {
        if (of_server.next != want::nothing)
            of_server = drive(both.server, both.client, [&](engine& e, wire& w) {
                return listener.handshake(e, w);
            });
        REQUIRE(!of_server.error);
        if (of_client.next != want::nothing)
            of_client =
                drive(both.client, both.server, [](engine& e, wire& w) { return e.handshake(w); });
        REQUIRE(!of_client.error);
    }
    REQUIRE(of_client.next == want::nothing);
    REQUIRE(of_server.next == want::nothing);
    CHECK(both.client.engine.established());

    found.info = both.client.engine.info();
    found.heard_early = listener.heard.size();
    found.heard = std::move(listener.heard);
    std::size_t const done = found.info.early == early_data::accepted ? found.early.bytes : 0;
    REQUIRE(!write_all(both.client, both.server, std::span{request}.subspan(done)).error);

    // And the other way, which brings the next ticket along. After a close nobody would want it.
    bytes answer;
    write_all(both.server, both.client, pattern(300));
    read_all(both.client, both.server, answer);
    CHECK(answer == pattern(300));
    CHECK(both.client.engine.take_sessions().size() == 1);
    REQUIRE(!close(both.client, both.server).error);
    CHECK(read_all(both.server, both.client, found.heard).error == error::closed);
    found.to_server = both.server.come.size();
    found.to_client = both.client.come.size();
    found.info.version = found.info.cipher = found.info.group = {}; // They die with the engine.
    return found;
}

TEST_CASE_FIXTURE(
    fixture, "what is said with the ClientHello is heard before the handshake is done")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    CHECK(ticket.allows_early_data());
    said const found = ask(on_server, on_client, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::accepted);
    CHECK(found.info.resumed);
    CHECK(found.heard_early == 500);
    CHECK(found.heard == pattern(500));
}

TEST_CASE_FIXTURE(fixture, "a ticket that does not allow it offers none")
{
    context const on_server{server};
    context const on_client{client};
    session const ticket = ticket_of(on_server, on_client);
    CHECK(!ticket.allows_early_data());
    said const found = ask(on_server, on_client, ticket, pattern(500));
    CHECK(found.early.bytes == 0);
    CHECK(found.info.early == early_data::not_offered);
    CHECK(found.info.resumed);
    CHECK(found.heard == pattern(500));
}

TEST_CASE_FIXTURE(fixture, "without a session, and with TLS 1.2's, there is no early data")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    CHECK(ask(on_server, on_client, {}, pattern(9)).info.early == early_data::not_offered);
    CHECK(!session{}.allows_early_data());
    client.version_max = protocol_version::tls_1_2;
    context const older{client};
    duet both{on_server, older};
    REQUIRE(both.established());
    for (session const& each : both.client.engine.take_sessions())
        CHECK(!each.allows_early_data());
}

TEST_CASE_FIXTURE(fixture, "a session that is resumed without a word offers none")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    said const found = ask(on_server, on_client, ticket_of(on_server, on_client), {});
    CHECK(found.info.early == early_data::not_offered);
    CHECK(found.info.resumed);
}

TEST_CASE_FIXTURE(fixture, "a ticket that was used may not be offered again, and asks no less")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    ask(on_server, on_client, ticket, pattern(10));
    CHECK(ask(on_server, on_client, ticket, pattern(10)).heard == pattern(10));
}

TEST_CASE_FIXTURE(fixture, "what the session's limit leaves is for after the handshake")
{
    context const on_server{server};
    context const on_client{client};
    std::size_t const limit = allow_early_data(on_server, true);
    for (std::size_t const size : {limit - 1, limit, limit + 1, 3 * limit}) {
        session const ticket = ticket_of(on_server, on_client);
        said const found = ask(on_server, on_client, ticket, pattern(size));
        CHECK(found.early.bytes == std::min(size, limit));
        CHECK(found.info.early == early_data::accepted);
        CHECK(found.heard_early == std::min(size, limit));
        CHECK(found.heard == pattern(size));
    }
}

TEST_CASE_FIXTURE(fixture, "a server that takes none any more still gets every byte once")
{
    context const on_server{server};
    context const on_client{client};
    std::size_t const limit = allow_early_data(on_server, true);
    for (std::size_t const size : {std::size_t{1}, std::size_t{500}, 2 * limit}) {
        allow_early_data(on_server, true);
        session const ticket = ticket_of(on_server, on_client);
        allow_early_data(on_server, false);
        said const found = ask(on_server, on_client, ticket, pattern(size));
        CHECK(found.early.bytes == std::min(size, limit));
        CHECK(found.info.early == early_data::rejected);
        CHECK(found.info.resumed);
        CHECK(found.heard_early == 0);
        CHECK(found.heard == pattern(size));
    }
}

TEST_CASE_FIXTURE(fixture, "a server with other ticket keys rejects it with the session")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{2}});
    context const other{server};
    allow_early_data(other, true);
    said const found = ask(other, on_client, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::rejected);
    CHECK(!found.info.resumed);
    CHECK(found.heard == pattern(500));
}

TEST_CASE_FIXTURE(fixture, "a HelloRetryRequest rejects it")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    server.groups = "P-256"; // The client brings a key for X25519.
    context const other{server};
    allow_early_data(other, true);
    said const found = ask(other, on_client, ticket, pattern(500));
    CHECK(found.early.bytes == 500);
    CHECK(found.info.early == early_data::rejected);
    CHECK(found.heard == pattern(500));
}

TEST_CASE_FIXTURE(fixture, "it is not offered under another protocol than the session's")
{
    server.alpn = {"h2", "http/1.1"};
    context const on_server{server};
    allow_early_data(on_server, true);
    client.alpn = {"h2"};
    context const two{client};
    client.alpn = {"http/1.1"};
    context const one{client};
    client.alpn = {};
    context const none{client};
    auto const outcome = [&](context const& with) {
        return ask(on_server, with, ticket_of(on_server, two), pattern(50)).info.early;
    };
    CHECK(outcome(two) == early_data::accepted);
    CHECK(outcome(one) == early_data::not_offered);
    CHECK(outcome(none) == early_data::not_offered);
}

TEST_CASE_FIXTURE(fixture, "a server that chooses another protocol now rejects it")
{
    server.alpn = {"h2"};
    client.alpn = {"http/1.1", "h2"};
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    server.alpn = {"http/1.1"};
    context const other{server};
    allow_early_data(other, true);
    said const found = ask(other, on_client, ticket, pattern(50));
    CHECK(found.info.early == early_data::rejected);
    CHECK(found.heard == pattern(50));
}

TEST_CASE_FIXTURE(fixture, "early data is heard once, wherever the wire is cut")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    for (bool const taken : {true, false}) {
        early_data const outcome = taken ? early_data::accepted : early_data::rejected;
        auto const check = [&](delivery to_server, delivery to_client) {
            allow_early_data(on_server, true);
            session const ticket = ticket_of(on_server, on_client);
            allow_early_data(on_server, taken);
            said const found = ask(on_server, on_client, ticket, pattern(40), to_server, to_client);
            CHECK(found.info.early == outcome);
            CHECK(found.early.bytes == 40);
            CHECK(found.heard == pattern(40));
            return found;
        };
        check({.chunk = 1}, {.chunk = 1});
        said const plain = check({}, {});
        for (std::size_t at = 1; at < plain.to_server; ++at)
            check({.split_at = at}, {});
        for (std::size_t at = 1; at < plain.to_client; ++at)
            check({}, {.split_at = at});
    }
}

TEST_CASE_FIXTURE(
    fixture, "where a ClientHello hardly has room it goes in parts, and early data waits")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    for (std::size_t const room : {std::size_t{7}, std::size_t{100}, std::size_t{1000}}) {
        duet both{on_server, on_client, {}, {.room = room}};
        both.client.engine.resume(ticket_of(on_server, on_client));
        bytes const request = pattern(50);
        std::span<std::byte const> const pieces[] = {request};
        step const s = drive(
            both.client, both.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
        CHECK(s.next == want::nothing);
        CHECK(s.bytes == 0);
        CHECK(both.established());
    }
}

TEST_CASE_FIXTURE(fixture, "an engine that is moved between the two remembers")
{
    context const on_server{server};
    context const on_client{client};
    allow_early_data(on_server, true);
    session const ticket = ticket_of(on_server, on_client);
    allow_early_data(on_server, false);
    duet both{on_server, on_client};
    both.client.engine.resume(ticket);
    bytes const request = pattern(50);
    std::span<std::byte const> const pieces[] = {request};
    drive(both.client, both.server, [&](engine& e, wire& w) { return e.write_early(w, pieces); });
    engine moved = std::move(both.client.engine);
    both.client.engine = std::move(moved);
    REQUIRE(both.established());
    CHECK(both.client.engine.info().early == early_data::rejected);
}

} // namespace
} // namespace cleat::tls
