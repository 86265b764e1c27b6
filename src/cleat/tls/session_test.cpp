// Sessions as a client's engine hands them out and takes them back.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace cleat::tls {
namespace {

constexpr std::array versions{protocol_version::tls_1_2, protocol_version::tls_1_3};

struct fixture
{
    context_spec server;
    context_spec client;

    fixture()
    {
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
        client.role = role::client;
        client.server_name = "a.test";
        client.keep_sessions = true;
    }

    void speak(protocol_version only) { client.version_min = client.version_max = only; }
};

struct visit
{
    bool resumed = false;
    std::vector<session> given;
};

// A handshake and an answer, which takes TLS 1.3's tickets along.
visit go(context const& server, context const& client, session const& with = {}, delivery how = {})
{
    duet both{server, client, how, how};
    if (with)
        both.client.engine.resume(with);
    REQUIRE(both.established());
    std::vector<std::byte> got;
    write_all(both.server, both.client, pattern(10));
    read_all(both.client, both.server, got);
    CHECK(got == pattern(10));
    return {both.client.engine.info().resumed, both.client.engine.take_sessions()};
}

TEST_CASE_FIXTURE(fixture, "what a server gives resumes the next connection, in both versions")
{
    for (protocol_version const version : versions) {
        speak(version);
        context const on_server{server};
        context const on_client{client};
        visit const first = go(on_server, on_client);
        CHECK(!first.resumed);
        REQUIRE(first.given.size() == 1);
        session const& ticket = first.given.front();
        CHECK(ticket.by_ticket());
        CHECK(ticket.single_use() == (version == protocol_version::tls_1_3));
        CHECK(go(on_server, on_client, ticket).resumed);
    }
}

TEST_CASE_FIXTURE(fixture, "a session outlives its connection, and a copy is the same session")
{
    speak(protocol_version::tls_1_2);
    context const on_server{server};
    context const on_client{client};
    session kept = go(on_server, on_client).given.front();
    session const copy = kept;
    kept = session{};
    CHECK(!kept);
    CHECK(go(on_server, on_client, copy).resumed);
    CHECK(go(on_server, on_client, copy).resumed);
}

TEST_CASE_FIXTURE(fixture, "sessions are handed out once, also when they come a byte at a time")
{
    speak(protocol_version::tls_1_3);
    context const on_server{server};
    context const on_client{client};
    duet both{on_server, on_client, {.chunk = 1}, {.chunk = 1}};
    REQUIRE(both.established());
    CHECK(both.client.engine.take_sessions().empty()); // The ticket is behind the handshake.
    std::vector<std::byte> got;
    write_all(both.server, both.client, pattern(10));
    read_all(both.client, both.server, got);
    engine moved = std::move(both.client.engine);
    CHECK(moved.take_sessions().size() == 1);
    CHECK(moved.take_sessions().empty());
}

TEST_CASE_FIXTURE(fixture, "nothing is kept unless it was asked for")
{
    client.keep_sessions = false;
    context const on_server{server};
    context const on_client{client};
    CHECK(go(on_server, on_client).given.empty());
}

TEST_CASE_FIXTURE(fixture, "a client that wants no tickets gets none")
{
    client.want_tickets = false;
    speak(protocol_version::tls_1_2);
    context const on_server{server};
    context const on_client{client};
    for (session const& each : go(on_server, on_client).given)
        CHECK(!each.by_ticket());
}

TEST_CASE_FIXTURE(fixture, "a session that another server's key has sealed is no harm")
{
    context const on_client{client};
    context const one{server};
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{2}});
    context const other{server};
    visit const first = go(one, on_client);
    REQUIRE(!first.given.empty());
    CHECK(!go(other, on_client, first.given.front()).resumed);
}

TEST_CASE_FIXTURE(fixture, "signature algorithms are the ones that were asked for")
{
    client.signature_algorithms = "RSA-PSS+SHA256";
    context const on_server{server};
    context const on_client{client};
    duet both{on_server, on_client};
    CHECK(!both.established()); // The server has an ECDSA key only.
    client.signature_algorithms = "NONSENSE+SHA256";
    CHECK_THROWS_AS(context{client}, spec_error);
}

TEST_CASE("no session is no session")
{
    session const none;
    CHECK(!none);
    CHECK(!none.single_use());
    CHECK(!none.by_ticket());
    CHECK(none.lifetime().count() == 0);
}

} // namespace
} // namespace cleat::tls
