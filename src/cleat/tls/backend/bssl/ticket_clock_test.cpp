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

// The clocks of both servers. They stand still: an epoch that ended in the middle of a test would
// change what the test compares.
std::chrono::seconds time_here{};
std::chrono::seconds time_ahead{};

// Both clocks, in the present epoch of this machine, whose clock is the client's.
void set_clocks(std::chrono::seconds second_of_epoch, std::chrono::seconds difference)
{
    std::chrono::seconds const now{std::time(nullptr)};
    time_here = now - now % epoch + second_of_epoch;
    time_ahead = time_here + difference;
}

template <std::chrono::seconds& time>
std::chrono::system_clock::time_point key_clock()
{
    return std::chrono::system_clock::time_point{time};
}

// As the backend's own clock, at that time.
template <std::chrono::seconds& time>
void library_clock(SSL const*, timeval* now)
{
    client_ticket const* const offered = noted_ticket();
    std::int64_t const made_by = offered == nullptr ? 0 : offered->made_by;
    *now = {std::max<std::int64_t>(time.count(), made_by), 0};
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
        backend::on_ticket_key(server.native_handle(), &keys_here);
        SSL_CTX_set_current_time_cb(server.native_handle(), library_clock<time_here>);
        backend::on_ticket_key(server_ahead.native_handle(), &keys_ahead);
        SSL_CTX_set_current_time_cb(server_ahead.native_handle(), library_clock<time_ahead>);
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
    ticket_keys keys_here{
        library, {.secrets = {spec.tickets}}, {epoch, epoch}, key_clock<time_here>};
    ticket_keys keys_ahead{
        library, {.secrets = {spec.tickets}}, {epoch, epoch}, key_clock<time_ahead>};
    context const server{spec};
    context const server_ahead{spec};
    context const client{client_spec()};
};

constexpr std::array versions{TLS1_2_VERSION, TLS1_3_VERSION};
constexpr std::array seconds_of_an_epoch{0s, 1s, 300s, 595s, 599s};

TEST_CASE_FIXTURE(
    ticket_clock_fixture,
    "tickets go back and forth between servers whose clocks differ by an epoch at most")
{
    for (int const version : versions) {
        for (std::chrono::seconds const second : seconds_of_an_epoch) {
            for (std::chrono::seconds const difference : {0s, 1s, 30s, 300s, 599s, 600s}) {
                set_clocks(second, difference);
                visit last = connect(server_ahead, version);
                CHECK(!last.resumed);
                for (context const* const to : {&server, &server_ahead, &server_ahead, &server}) {
                    last = connect(*to, version, last.session.get());
                    INFO(version << ", " << second.count() << " s, " << difference.count() << " s");
                    CHECK(last.resumed);
                }
            }
        }
    }
}

TEST_CASE_FIXTURE(ticket_clock_fixture, "a server resumes what a server of the next epoch has seen")
{
    for (int const version : versions) {
        for (std::chrono::seconds const second : seconds_of_an_epoch) {
            if (second == 0s)
                continue; // A whole epoch ahead, the session's lifetime is over.
            set_clocks(second, epoch - second); // The first second of the next epoch.
            visit last = connect(server, version);
            for (context const* const to : {&server_ahead, &server, &server_ahead, &server}) {
                last = connect(*to, version, last.session.get());
                INFO(version << ", " << second.count() << " s");
                CHECK(last.resumed);
            }
        }
    }
}

TEST_CASE_FIXTURE(ticket_clock_fixture, "a server whose clock is two epochs ahead resumes alone")
{
    for (int const version : versions) {
        for (std::chrono::seconds const second : seconds_of_an_epoch) {
            set_clocks(second, 2 * epoch);
            visit const first = connect(server_ahead, version);
            CHECK(!connect(server, version, first.session.get()).resumed);
            CHECK(connect(server_ahead, version, first.session.get()).resumed);
        }
    }
}

} // namespace
} // namespace cleat::tls::ticket_clock_test
