// Resumption: under which specs a session resumes, and under which it does not.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>
#include <cleat/tls/ticket_keys.hpp>

#include <doctest/doctest.h>

#include <array>

namespace cleat::tls::context_tickets_test {
namespace {

using namespace std::chrono_literals;

constexpr std::array version_numbers{TLS1_2_VERSION, TLS1_3_VERSION};

std::shared_ptr<ticket_secret const> secret_of(std::uint8_t fill)
{
    ticket_secret secret{};
    secret.fill(std::byte{fill});
    return std::make_shared<ticket_secret const>(secret);
}

struct tickets_fixture
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const person = make_identity({.common_name = "person", .issuer = &root});
    context_spec server;
    context_spec client;

    tickets_fixture()
    {
        server.certificates = {
            make_identity({.names = {"a.test"}, .common_name = "a"}).source("a.pem"),
            make_identity({.names = {"b.test"}, .common_name = "b"}).source("b.pem")};
        server.tickets = secret_of(1);
        client.role = role::client;
        client.server_name = "a.test";
    }
};

struct connection_result
{
    bool ok = false;
    bool resumed = false;
    std::vector<session_ptr> sessions; // New sessions, from the client's callback.
    session_ptr last;                  // The session to resume next time.
};

connection_result connect(
    context const& server, context const& client, int version, SSL_SESSION* offered = nullptr)
{
    test_connection connection{server, client};
    SSL_set_max_proto_version(connection.client.get(), static_cast<std::uint16_t>(version));
    if (offered != nullptr)
        SSL_set_session(connection.client.get(), offered);
    connection_result seen;
    seen.ok = connection.handshake();
    seen.resumed = connection.resumed();
    // OpenSSL calls no callback for a ticket that is renewed in TLS 1.2.
    seen.last.reset(SSL_get1_session(connection.client.get()));
    seen.sessions = std::move(connection.sessions);
    if (!seen.sessions.empty()) {
        SSL_SESSION_up_ref(seen.sessions.back().get());
        seen.last.reset(seen.sessions.back().get());
    }
    return seen;
}

TEST_CASE_FIXTURE(
    tickets_fixture,
    "a full handshake gives one ticket, and it resumes, also with another worker's context")
{
    context const one{server};
    context const other{server};
    context const client_context{client};
    for (int const version : version_numbers) {
        connection_result const first = connect(one, client_context, version);
        REQUIRE(first.ok);
        CHECK(!first.resumed);
        REQUIRE(first.sessions.size() == 1);
        connection_result const second =
            connect(one, client_context, version, first.sessions.front().get());
        CHECK(second.ok);
        CHECK(second.resumed);
        CHECK(second.sessions.size() <= 1);
        connection_result const third =
            connect(one, client_context, version); // OpenSSL's client uses a session once.
        REQUIRE(third.sessions.size() == 1);
        CHECK(connect(other, client_context, version, third.sessions.front().get()).resumed);
    }
}

TEST_CASE_FIXTURE(tickets_fixture, "without a secret there are no tickets")
{
    server.tickets = nullptr;
    context const without{server};
    context const client_context{client};
    connection_result const last = connect(without, client_context, TLS1_3_VERSION);
    CHECK(last.ok);
    CHECK(last.sessions.empty());

    // TLS 1.2 has sessions without tickets; they do not resume, since no server stores them.
    connection_result const old = connect(without, client_context, TLS1_2_VERSION);
    CHECK(old.ok);
    for (session_ptr const& session : old.sessions)
        CHECK(!connect(without, client_context, TLS1_2_VERSION, session.get()).resumed);
}

TEST_CASE_FIXTURE(
    tickets_fixture,
    "a session does not resume under other rules, and the connection goes on in full")
{
    context const issuing{server};
    context const client_context{client};
    SUBCASE("another scope")
    {
        server.session_scope = "another listener";
    }
    SUBCASE("another secret")
    {
        server.tickets = secret_of(2);
    }
    SUBCASE("no tickets")
    {
        server.tickets = nullptr;
    }
    SUBCASE("client certificates are asked for")
    {
        server.verify = peer_verification::optional;
        server.verify_authorities = root.certificate_pem;
    }
    context const other_server{server};
    for (int const version : version_numbers) {
        connection_result const first = connect(issuing, client_context, version);
        REQUIRE(first.sessions.size() == 1);
        connection_result const second =
            connect(other_server, client_context, version, first.sessions.front().get());
        CHECK(second.ok);
        CHECK(!second.resumed);
    }
}

TEST_CASE_FIXTURE(tickets_fixture, "a session does not resume under a name of another certificate")
{
    context const serving{server};
    for (int const version : version_numbers)
        for (bool const is_other : {false, true}) {
            client.server_name = "a.test";
            context const client_context{client};
            connection_result const first = connect(serving, client_context, version);
            REQUIRE(first.ok);
            client.server_name = is_other ? "b.test" : "a.test";
            context const next{client};
            connection_result const second = connect(serving, next, version, first.last.get());
            CHECK(second.ok);
            CHECK(second.resumed == !is_other);
        }
}

TEST_CASE_FIXTURE(
    tickets_fixture, "a session resumes after its certificate was renewed, with another key")
{
    client.server_name = "b.test";
    context const client_context{client};
    context const before{server};
    server.certificates.back() =
        make_identity({.names = {"b.test"}, .common_name = "b2"}).source("b2.pem");
    context const renewed{server};
    for (int const version : version_numbers) {
        connection_result const first = connect(before, client_context, version);
        CHECK(connect(renewed, client_context, version, first.last.get()).resumed);
    }
}

TEST_CASE_FIXTURE(
    tickets_fixture,
    "a session without client certificate does not get past a server that requires one")
{
    context const open{server};
    server.verify = peer_verification::required;
    server.verify_authorities = root.certificate_pem;
    context const closed{server};
    context const client_context{client};
    for (int const version : version_numbers) {
        connection_result const first = connect(open, client_context, version);
        REQUIRE(first.sessions.size() == 1);
        CHECK(!connect(closed, client_context, version, first.sessions.front().get()).ok);
    }
}

TEST_CASE_FIXTURE(tickets_fixture, "a resumed session has its client's certificate")
{
    server.verify = peer_verification::required;
    server.verify_authorities = root.certificate_pem;
    client.certificates = {person.source("person.pem")};
    context const closed{server};
    context const client_context{client};
    for (int const version : version_numbers) {
        connection_result const first = connect(closed, client_context, version);
        REQUIRE(first.sessions.size() == 1);
        test_connection again{closed, client_context};
        SSL_set_max_proto_version(again.client.get(), static_cast<std::uint16_t>(version));
        SSL_set_session(again.client.get(), first.sessions.front().get());
        CHECK(again.handshake());
        CHECK(again.resumed());
        CHECK(backend::peer_common_name(again.server.get()) == "person");
    }
}

std::chrono::system_clock::time_point ticket_time;

TEST_CASE_FIXTURE(
    tickets_fixture, "a ticket resumes in its epoch and the next two, and is renewed by then")
{
    for (int const version : version_numbers) {
        context const serving{server};
        backend::library_state library;
        ticket_time = std::chrono::system_clock::time_point{1'700'000'400s};
        ticket_keys keys{
            library, {.secrets = {secret_of(3)}}, {600s, 600s}, [] { return ticket_time; }};
        // In place of the context's own keys, which follow the wall clock.
        backend::on_ticket_key(serving.native_handle(), &keys);
        client.server_name = "b.test";
        context const direct{client}; // Its name is the default's: it stays on this SSL_CTX.
        connection_result const first = connect(serving, direct, version);
        REQUIRE(first.sessions.size() == 1);
        ticket_time += 600s;
        connection_result const second =
            connect(serving, direct, version, first.sessions.front().get());
        CHECK(second.resumed);
        ticket_time += 600s;
        CHECK(connect(serving, direct, version, second.last.get()).resumed);

        connection_result const late = connect(serving, direct, version);
        REQUIRE(late.sessions.size() == 1);
        ticket_time += 1800s;
        CHECK(!connect(serving, direct, version, late.sessions.front().get()).resumed);
    }
}

TEST_CASE_FIXTURE(
    tickets_fixture, "tickets of an accepted secret resume, and are replaced by the first secret's")
{
    context const before{server};
    server.tickets = secret_of(2);
    context const stranger{server};
    server.accepted_tickets = {secret_of(1)};
    context const moved{server};
    context const client_context{client};
    for (int const version : version_numbers) {
        connection_result const first = connect(before, client_context, version);
        REQUIRE(first.ok);
        CHECK(!connect(stranger, client_context, version, first.last.get()).resumed);
        connection_result const second = connect(moved, client_context, version, first.last.get());
        CHECK(second.ok);
        CHECK(second.resumed);
        CHECK(connect(stranger, client_context, version, second.last.get()).resumed);
    }
}

// The tickets of one handshake between engines, and the session to come back with.
std::vector<session> tickets_of(
    context const& server, context const& client, session const& offered, bool is_resumed)
{
    engine_pair pair{server, client};
    if (offered)
        pair.client.engine.resume(offered);
    REQUIRE(pair.established());
    CHECK(pair.server.engine.info().resumed == is_resumed);
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10)); // Tickets come before it.
    read_all(pair.client, pair.server, text);
    return pair.client.engine.take_sessions();
}

TEST_CASE_FIXTURE(
    tickets_fixture, "a full and a resumed handshake give as many tickets as the spec says")
{
    client.keep_sessions = true;
    client.version_min = protocol_version::tls_1_3;
    context const client_context{client};
    for (ticket_counts const counts :
         {ticket_counts{1, 1}, {3, 1}, {2, 0}, {16, 0}, {1, 2}, {1, 16}}) {
        server.ticket_counts = counts;
        if (counts.resumed > backend::resumed_tickets_max()) {
            std::vector<std::string> const mistakes = find_mistakes(server);
            REQUIRE(mistakes.size() == 1);
            CHECK(mistakes[0].starts_with("tickets-resumed: OpenSSL "));
            continue;
        }
        CAPTURE(counts.full);
        CAPTURE(counts.resumed);
        context const serving{server};
        for (int i = 0; i < 2; ++i) { // Those of one client do not change those of the next.
            std::vector<session> const first = tickets_of(serving, client_context, {}, false);
            REQUIRE(first.size() == counts.full);
            CHECK(tickets_of(serving, client_context, first.back(), true).size() == counts.resumed);
        }
    }
}

TEST_CASE_FIXTURE(tickets_fixture, "numbers of tickets that no library sends are refused")
{
    for (ticket_counts const counts : {ticket_counts{0, 1}, {17, 1}, {1, 17}}) {
        server.ticket_counts = counts;
        CHECK(find_mistakes(server).front().starts_with("tickets: a handshake can give from 1 to"));
    }
}

TEST_CASE_FIXTURE(
    tickets_fixture, "a TLS 1.2 ticket is not replaced where a resumed handshake gives none")
{
    context const before{server};
    server.accepted_tickets = {server.tickets};
    server.tickets = secret_of(2);
    context const renewing{server};
    server.ticket_counts.resumed = 0;
    context const silent{server};
    context const client_context{client};
    for (context const* each : {&renewing, &silent}) {
        connection_result const first = connect(before, client_context, TLS1_2_VERSION);
        connection_result const second =
            connect(*each, client_context, TLS1_2_VERSION, first.last.get());
        CHECK(second.resumed);
        // A ticket that was not replaced is still the first secret's.
        CHECK(
            connect(before, client_context, TLS1_2_VERSION, second.last.get()).resumed ==
            (each == &silent));
    }
}

TEST_CASE_FIXTURE(tickets_fixture, "times of tickets that make no sense are refused")
{
    auto const is_refused = [&] {
        try {
            context const context{server};
        } catch (spec_error const&) {
            return true;
        }
        return false;
    };
    server.ticket_rotation = 60s;
    server.ticket_lifetime = 48 * 60s;
    CHECK(!is_refused());
    server.ticket_lifetime = 48 * 60s + 1s;
    CHECK(is_refused());
    server.ticket_lifetime = 59s;
    CHECK(is_refused());
    server.ticket_lifetime.reset();
    server.accepted_tickets.assign(7, secret_of(2));
    CHECK(!is_refused());
    server.accepted_tickets.assign(8, secret_of(2));
    CHECK(is_refused());
}

} // namespace
} // namespace cleat::tls::context_tickets_test
