// Tickets of servers whose clocks differ: the library has its clock in its sessions, and refuses
// one that begins after its clock.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_secret.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>

#include <sys/time.h>

namespace cleat::tls::ticket_clock_test {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds epoch = 600s;
std::chrono::seconds ahead{}; // The clock of one server, of this machine's.

std::chrono::system_clock::time_point clock_ahead()
{
    return std::chrono::system_clock::now() + ahead;
}

// As the backend's own clock, but ahead.
void library_clock_ahead(SSL const*, timeval* now)
{
    client_ticket const* const offered = noted_ticket();
    std::int64_t const made_by = offered == nullptr ? 0 : offered->made_by;
    *now = {std::max<std::int64_t>(std::time(nullptr) + ahead.count(), made_by), 0};
}

context_spec server_spec()
{
    context_spec made;
    made.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    made.tickets = new_ticket_secret();
    made.ticket_rotation = epoch;
    return made;
}

context_spec client_spec()
{
    context_spec made;
    made.role = role::client;
    made.server_name = "a.test";
    return made;
}

struct visit
{
    bool resumed = false;
    session_ptr session; // To come back with.
};

struct ticket_clock_fixture
{
    ticket_clock_fixture()
    {
        backend::on_ticket_key(server_ahead.native_handle(), &keys_ahead);
        SSL_CTX_set_current_time_cb(server_ahead.native_handle(), library_clock_ahead);
    }

    visit connect(context const& to, int version, SSL_SESSION* offered = nullptr) const
    {
        client_ticket seen;
        ticket_watch const watch{seen}; // As the engine has one.
        test_connection connection{to, client};
        SSL_set_max_proto_version(connection.client.get(), static_cast<std::uint16_t>(version));
        if (offered != nullptr)
            SSL_set_session(connection.client.get(), offered);
        REQUIRE(connection.handshake());
        visit made{connection.resumed(), session_ptr{SSL_get1_session(connection.client.get())}};
        if (!connection.sessions.empty())
            made.session = std::move(connection.sessions.back());
        return made;
    }

    backend::library_state library;
    context_spec const spec = server_spec();
    ticket_keys keys_ahead{library, {spec.tickets}, {epoch, epoch}, clock_ahead};
    context const server{spec};
    context const server_ahead{spec};
    context const client{client_spec()};
};

constexpr std::array versions{TLS1_2_VERSION, TLS1_3_VERSION};

TEST_CASE_FIXTURE(
    ticket_clock_fixture,
    "tickets go back and forth between servers whose clocks differ by an epoch at most")
{
    for (int const version : versions) {
        for (std::chrono::seconds const difference : {0s, 1s, 30s, 300s, 599s, 600s}) {
            ahead = difference;
            visit last = connect(server_ahead, version);
            CHECK(!last.resumed);
            for (int turn = 0; turn < 3; ++turn) {
                for (context const* const to : {&server, &server_ahead, &server_ahead, &server}) {
                    last = connect(*to, version, last.session.get());
                    INFO(version << ", " << difference.count() << " s, turn " << turn);
                    CHECK(last.resumed);
                }
            }
        }
    }
}

TEST_CASE_FIXTURE(ticket_clock_fixture, "a server resumes what a server of the next epoch has seen")
{
    for (int const version : versions) {
        std::chrono::seconds const now{std::time(nullptr)};
        ahead = epoch - now % epoch + 5s;
        visit last = connect(server, version);
        for (context const* const to : {&server_ahead, &server, &server_ahead, &server}) {
            last = connect(*to, version, last.session.get());
            INFO(version << ", " << ahead.count() << " s");
            CHECK(last.resumed);
        }
    }
}

TEST_CASE_FIXTURE(ticket_clock_fixture, "a server whose clock is two epochs ahead resumes alone")
{
    for (int const version : versions) {
        ahead = 2 * epoch;
        visit const first = connect(server_ahead, version);
        CHECK(!connect(server, version, first.session.get()).resumed);
        CHECK(connect(server_ahead, version, first.session.get()).resumed);
    }
}

} // namespace
} // namespace cleat::tls::ticket_clock_test
