// The age of a session that a server resumes.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/older_sessions_for_tests.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/session_id_cache.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <vector>

namespace cleat::tls::ticket_age_test {
namespace {

using namespace std::chrono_literals;

struct ages_fixture
{
    session_id_cache cache{0, 1};
    context_spec server;
    context_spec client;

    ages_fixture()
    {
        cache.bound(10, 1h);
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = new_ticket_secret();
        server.session_ids = true;
        client.role = role::client;
        client.server_name = "a.test";
        client.keep_sessions = true;
    }

    [[nodiscard]] context serving()
    {
        context made{server};
        made.keep_sessions_in(cache);
        return made;
    }
};

struct visit
{
    handshake_info info;
    session last;
};

visit come(context const& server, context const& client, session const& offered = {})
{
    engine_pair pair{server, client};
    if (offered)
        pair.client.engine.resume(offered);
    REQUIRE(pair.established());
    std::vector<std::byte> text;
    write_all(pair.server, pair.client, pattern(10)); // The ticket comes before it.
    read_all(pair.client, pair.server, text);
    visit seen{pair.server.engine.info(), {}};
    if (std::vector<session> kept = pair.client.engine.take_sessions(); !kept.empty())
        seen.last = kept.back();
    return seen;
}

// The test itself takes a little while.
bool is_old(handshake_info const& info)
{
    std::chrono::seconds const age{info.ticket.age};
    return age >= older_by && age < older_by + 60s;
}

TEST_CASE_FIXTURE(ages_fixture, "a session that resumes by its ticket has an age")
{
    for (protocol_version const version : both_versions) {
        client.version_min = client.version_max = version;
        context const past{serving()};
        make_sessions_older(past);
        context const present{serving()};
        context const visitor{client};
        visit const first = come(past, visitor);
        CHECK(first.info.ticket.age == 0);
        visit const second = come(present, visitor, first.last);
        REQUIRE(second.info.resumed);
        CHECK(second.info.ticket.use == ticket_use::opened);
        CHECK(is_old(second.info));
        if (version != protocol_version::tls_1_3)
            continue;
        visit const third = come(present, visitor, second.last); // The ticket is a new one.
        REQUIRE(third.info.resumed);
        CHECK(third.info.ticket.age < 60);
    }
}

TEST_CASE_FIXTURE(ages_fixture, "a session that resumes by its ID has an age")
{
    client.version_max = protocol_version::tls_1_2;
    client.want_tickets = false;
    context const past{serving()};
    make_sessions_older(past);
    context const present{serving()};
    context const visitor{client};
    visit const second = come(present, visitor, come(past, visitor).last);
    REQUIRE(second.info.resumed);
    CHECK(second.info.ticket.use == ticket_use::found_id);
    CHECK(is_old(second.info));
}

TEST_CASE_FIXTURE(ages_fixture, "the age is of this handshake, not of one before on its thread")
{
    context const past{serving()};
    make_sessions_older(past);
    context const present{serving()};
    context const visitor{client};
    REQUIRE(is_old(come(present, visitor, come(past, visitor).last).info));
    CHECK(come(present, visitor).info.ticket.age == 0);
}

} // namespace
} // namespace cleat::tls::ticket_age_test
