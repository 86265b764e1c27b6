// Sessions of TLS 1.2 by ID: a client without tickets resumes at each worker, under the same rules
// as with a ticket.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/session_id_cache.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <tuple>
#include <vector>

namespace cleat::tls::session_ids_test {
namespace {

using namespace std::chrono_literals;

struct fixture
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    session_id_cache here{0, 2};
    session_id_cache there{1, 2};
    context_spec server;
    context_spec client;

    fixture()
    {
        here.bound(10, 60s);
        there.bound(10, 60s);
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
        server.session_ids = true;
        client.role = role::client;
        client.server_name = "a.test";
        client.keep_sessions = true;
        client.want_tickets = false;
        client.version_max = protocol_version::tls_1_2;
    }

    [[nodiscard]] context serving(session_id_cache& cache) const
    {
        context made{server};
        made.keep_sessions_in(cache);
        return made;
    }
};

struct visit
{
    bool ok = false;
    bool resumed = false;
    ticket_use use = ticket_use::none;
    int questions = 0;
    session last;
};

// The caller of the engine asks the owner, as worker_sessions does.
visit come(
    context const& server, context const& client, session_id_cache& mine, session_id_cache& other,
    session const& offered = {})
{
    engine_pair pair{server, client};
    if (offered)
        pair.client.engine.resume(offered);
    visit seen;
    auto [server_step, client_step] = pair.handshake();
    while (server_step.next == want::session && seen.questions < 3) {
        session_id const asked = mine.asked();
        CHECK(worker_of(asked) == other.worker());
        ++seen.questions;
        mine.answer(asked, encoded_session{other.find(asked, session_id_cache::clock::now())});
        std::tie(server_step, client_step) = pair.handshake();
    }
    seen.ok = pair.server.engine.established() && pair.client.engine.established();
    handshake_info const info = pair.server.engine.info();
    seen.resumed = info.resumed;
    seen.use = info.ticket.use;
    std::vector<session> made = pair.client.engine.take_sessions();
    seen.last = made.empty() ? offered : made.back();
    return seen;
}

TEST_CASE_FIXTURE(
    fixture, "a client without tickets resumes where it was, and elsewhere after a question")
{
    context const one = serving(here);
    context const other = serving(there);
    context const client_context{client};
    visit const first = come(one, client_context, here, there);
    REQUIRE(first.ok);
    CHECK(!first.resumed);
    CHECK(first.use == ticket_use::none);
    REQUIRE(here.size() == 1);
    CHECK(here.memory() <= 330); // See the test of a hundred thousand.

    visit const again = come(one, client_context, here, there, first.last);
    CHECK(again.ok);
    CHECK(again.resumed);
    CHECK(again.questions == 0);
    CHECK(again.use == ticket_use::found_id);

    visit const elsewhere = come(other, client_context, there, here, first.last);
    CHECK(elsewhere.ok);
    CHECK(elsewhere.resumed);
    CHECK(elsewhere.questions == 1);
    CHECK(elsewhere.use == ticket_use::found_id);
    CHECK(there.size() == 0); // The session stays where it was made.
    CHECK(here.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "a session that is gone is a full handshake, after one question at most")
{
    context const one = serving(here);
    context const other = serving(there);
    context const client_context{client};
    visit const first = come(one, client_context, here, there);
    here.bound(0, 60s);
    here.bound(10, 60s);
    visit const again = come(one, client_context, here, there, first.last);
    CHECK(again.ok);
    CHECK(!again.resumed);
    CHECK(again.questions == 0);
    CHECK(again.use == ticket_use::unknown_id);
    here.bound(0, 60s);
    here.bound(10, 60s);
    visit const elsewhere = come(other, client_context, there, here, first.last);
    CHECK(elsewhere.ok);
    CHECK(!elsewhere.resumed);
    CHECK(elsewhere.questions == 1);
    CHECK(elsewhere.use == ticket_use::unknown_id);
}

TEST_CASE_FIXTURE(fixture, "a client with tickets, or of TLS 1.3, takes no room")
{
    context const one = serving(here);
    SUBCASE("TLS 1.3")
    {
        client.version_max = protocol_version::tls_1_3;
    }
    SUBCASE("tickets")
    {
        client.want_tickets = true;
    }
    context const client_context{client};
    visit const first = come(one, client_context, here, there);
    CHECK(first.ok);
    CHECK(come(one, client_context, here, there).questions == 0);
    CHECK(here.size() == 0);
}

TEST_CASE_FIXTURE(fixture, "without tickets at all every client of TLS 1.2 has a session by ID")
{
    server.tickets = nullptr;
    client.want_tickets = true;
    context const one = serving(here);
    context const other = serving(there);
    context const client_context{client};
    visit const first = come(one, client_context, here, there);
    CHECK(here.size() == 1);
    CHECK(come(other, client_context, there, here, first.last).resumed);
}

TEST_CASE_FIXTURE(fixture, "a session resumes with its client's certificate")
{
    test_identity const person = make_identity({.common_name = "person", .issuer = &root});
    server.verify = peer_verification::required;
    server.verify_authorities = root.certificate_pem;
    client.certificates = {person.source("person.pem")};
    context const one = serving(here);
    context const other = serving(there);
    context const client_context{client};
    visit const first = come(one, client_context, here, there);
    REQUIRE(first.ok);
    engine_pair pair{other, client_context};
    pair.client.engine.resume(first.last);
    static_cast<void>(pair.handshake());
    there.answer(
        there.asked(), encoded_session{here.find(there.asked(), session_id_cache::clock::now())});
    REQUIRE(pair.established());
    CHECK(pair.server.engine.info().resumed);
    CHECK(pair.server.engine.peer_common_name() == "person");
}

} // namespace
} // namespace cleat::tls::session_ids_test
