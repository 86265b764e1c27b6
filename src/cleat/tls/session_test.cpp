// Sessions that a client's engine returns, and resumes.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace cleat::tls::session_test {
namespace {

struct session_fixture
{
    context_spec server;
    context_spec client;

    session_fixture()
    {
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
        client.role = role::client;
        client.server_name = "a.test";
        client.keep_sessions = true;
    }

    void set_version(protocol_version version)
    {
        client.version_min = client.version_max = version;
    }
};

struct connection_result
{
    bool resumed = false;
    std::vector<session> sessions;
};

// A handshake and an answer: TLS 1.3's tickets come before the answer.
connection_result connect(context const& server, context const& client, session const& offered = {})
{
    engine_pair pair{server, client};
    if (offered)
        pair.client.engine.resume(offered);
    REQUIRE(pair.established());
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10));
    read_all(pair.client, pair.server, text);
    CHECK(text == pattern(10));
    return {pair.client.engine.info().resumed, pair.client.engine.take_sessions()};
}

TEST_CASE_FIXTURE(
    session_fixture, "a server's session resumes the next connection, in both versions")
{
    for (protocol_version const version : both_versions) {
        set_version(version);
        context const server_context{server};
        context const client_context{client};
        connection_result const first = connect(server_context, client_context);
        CHECK(!first.resumed);
        REQUIRE(first.sessions.size() == 1);
        session const& ticket = first.sessions.front();
        CHECK(ticket.by_ticket());
        CHECK(ticket.single_use() == (version == protocol_version::tls_1_3));
        CHECK(connect(server_context, client_context, ticket).resumed);
    }
}

TEST_CASE_FIXTURE(
    session_fixture, "a session outlives its connection, and a copy is the same session")
{
    set_version(protocol_version::tls_1_2);
    context const server_context{server};
    context const client_context{client};
    session kept = connect(server_context, client_context).sessions.front();
    session const copy = kept;
    kept = session{};
    CHECK(!kept);
    CHECK(connect(server_context, client_context, copy).resumed);
    CHECK(connect(server_context, client_context, copy).resumed);
}

TEST_CASE_FIXTURE(
    session_fixture, "sessions are returned once, also when they come a byte at a time")
{
    set_version(protocol_version::tls_1_3);
    context const server_context{server};
    context const client_context{client};
    engine_pair pair{server_context, client_context, {.chunk = 1}, {.chunk = 1}};
    REQUIRE(pair.established());
    CHECK(pair.client.engine.take_sessions().empty()); // The ticket comes after the handshake.
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10));
    read_all(pair.client, pair.server, text);
    engine moved = std::move(pair.client.engine);
    CHECK(moved.take_sessions().size() == 1);
    CHECK(moved.take_sessions().empty());
}

TEST_CASE_FIXTURE(
    session_fixture, "a program may have data of its own at a connection whose sessions are kept")
{
    context const server_context{server};
    context const client_context{client};
    engine_pair pair{server_context, client_context};
    int own = 0;
    REQUIRE(SSL_set_app_data(pair.client.engine.native_handle(), &own) == 1);
    REQUIRE(pair.established());
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10));
    read_all(pair.client, pair.server, text);
    CHECK(pair.client.engine.take_sessions().size() == 1);
    CHECK(SSL_get_app_data(pair.client.engine.native_handle()) == &own);
}

TEST_CASE_FIXTURE(session_fixture, "no session is kept without keep_sessions")
{
    client.keep_sessions = false;
    context const server_context{server};
    context const client_context{client};
    CHECK(connect(server_context, client_context).sessions.empty());
}

TEST_CASE_FIXTURE(session_fixture, "a client that wants no tickets gets none")
{
    client.want_tickets = false;
    set_version(protocol_version::tls_1_2);
    context const server_context{server};
    context const client_context{client};
    for (session const& each : connect(server_context, client_context).sessions)
        CHECK(!each.by_ticket());
}

TEST_CASE_FIXTURE(
    session_fixture, "a session that another server's key has sealed leads to a full handshake")
{
    context const client_context{client};
    context const one{server};
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{2}});
    context const other{server};
    connection_result const first = connect(one, client_context);
    REQUIRE(!first.sessions.empty());
    CHECK(!connect(other, client_context, first.sessions.front()).resumed);
}

TEST_CASE_FIXTURE(session_fixture, "signature algorithms are those of the spec")
{
    client.signature_algorithms = "RSA-PSS+SHA256";
    context const server_context{server};
    context const client_context{client};
    engine_pair pair{server_context, client_context};
    CHECK(!pair.established()); // The server has an ECDSA key only.
    client.signature_algorithms = "NONSENSE+SHA256";
    CHECK_THROWS_AS(context{client}, spec_error);
}

TEST_CASE("a default session is empty")
{
    session const none;
    CHECK(!none);
    CHECK(!none.single_use());
    CHECK(!none.by_ticket());
    CHECK(none.lifetime().count() == 0);
}

} // namespace
} // namespace cleat::tls::session_test
