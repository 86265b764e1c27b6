// Resets of a side that the relay does not read just then: it must notice them all the same.

#include "relay/relay_scene_for_tests.hpp"

#include <algorithm>
#include <vector>

namespace cleat::app::relay_resets_test {
namespace {

using namespace std::chrono_literals;
using net::socket_kind;

TEST_CASE("a client that resets after its close_notify takes the upstream with it")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.peer.write("a request");
        t.peer.close();
        co_await t.until([&] { return t.hear() == "a request" && t.origin_ended; });
        CHECK(!t.outcome);
        t.peer.reset(); // The upstream is silent, and stays so.
        co_await t.until_over();
        CHECK(t.origin_is_reset());
    });
    CHECK(s.outcome->reason == close_reason::client_reset);
}

TEST_CASE("what a client sent before it reset is passed on as far as the upstream takes it")
{
    scene s{socket_kind::tcp, socket_kind::tcp, no_deadlines, 1, 1};
    s.play([](scene& t) -> net::task<> {
        // More than all the sockets on the way and the relay's own memory hold.
        std::vector<std::byte> const much = net::pattern(limits::unsent_max + 512 * 1024);
        t.peer.write(much);
        std::size_t still = 0;
        for (std::size_t left = 0; still < 1000; still = left == t.peer.unsent() ? still + 1 : 0) {
            left = t.peer.unsent();
            t.peer.flush();
            co_await next_turn{t.w};
        }
        t.peer.reset();
        for (int i = 0; i < 100; ++i)
            co_await next_turn{t.w};
        CHECK(!t.outcome);
        // The upstream reads on: it gets what had come, in order, and then the reset.
        co_await t.until([&] {
            t.hear();
            return t.outcome.has_value();
        });
        t.hear();
        CHECK(t.heard.size() > 64 * 1024);
        CHECK(std::equal(t.heard.begin(), t.heard.end(), net::text_of(much).begin()));
        CHECK(!t.origin_ended); // That would be a whole upload.
        CHECK(t.origin_is_reset());
    });
    CHECK(s.outcome->reason == close_reason::client_reset);
}

TEST_CASE("an upstream that resets behind a client that does not read is given up in time")
{
    // No deadline can pass before the reset.
    scene s{socket_kind::tcp, socket_kind::tcp, {.idle = 1h, .linger = 400ms}, 1, 1};
    s.play([](scene& t) -> net::task<> {
        std::string const much(64 * 1024, 'x');
        // Until every socket on the way is full: the client reads nothing.
        for (int still = 0; still < 1000;) {
            ssize_t const n =
                ::send(t.origin(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            still = n > 0 ? 0 : still + 1;
            co_await next_turn{t.w};
        }
        CHECK(!t.outcome);
        t.reset_origin();
        co_await t.until([&] { return t.outcome.has_value(); });
        t.peer.receive_raw();
        CHECK(t.peer.end() != error::closed);
    });
    REQUIRE(s.outcome);
    CHECK(s.outcome->reason == close_reason::upstream_reset);
}

void receive_slowly(int fd)
{
    int const little = 16 * 1024;
    REQUIRE(::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little) == 0);
}

TEST_CASE("a slow client gets all of an answer that its upstream broke off, and no close_notify")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    std::string const much(160 * 1024, 'x');
    s.play([&](scene& t) -> net::task<> {
        receive_slowly(t.peer.fd());
        std::string_view rest = much;
        co_await t.until([&] {
            ssize_t const n =
                ::send(t.origin(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            rest.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
            return rest.empty() && t.traffic.down == much.size();
        });
        t.reset_origin(); // As of a server that answers before it has read all, and closes.
        t.peer.write("the rest of a request"); // Unread, it would make an RST of our closing.
        for (int i = 0; i < 1000; ++i)
            co_await next_turn{t.w};
        CHECK(!t.outcome);
        co_await t.until([&] {
            t.peer.receive_raw();
            return static_cast<bool>(t.peer.end());
        });
        CHECK((t.peer.plaintext() == much));
        CHECK(t.peer.end() == error::truncated);
        t.peer.shutdown_send();
        co_await t.until_over();
    });
    CHECK(s.outcome->reason == close_reason::upstream_reset);
}

TEST_CASE("a slow client that takes nothing of such an answer is left")
{
    scene s{socket_kind::tcp, socket_kind::tcp, {.idle = 1h, .linger = 400ms}};
    s.play([](scene& t) -> net::task<> {
        receive_slowly(t.peer.fd());
        t.say(std::string(256 * 1024, 'x'));
        co_await t.until([&] { return t.traffic.down == 256 * 1024; });
        t.reset_origin();
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    REQUIRE(s.outcome);
    CHECK(s.outcome->reason == close_reason::upstream_reset);
}

TEST_CASE("a whole upload on its way is not destroyed by a client that resets behind it")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    std::string const much(512 * 1024, 'x');
    s.play([&](scene& t) -> net::task<> {
        receive_slowly(t.origin());
        t.peer.write(much);
        t.peer.close();
        co_await t.until([&] {
            t.peer.flush();
            return t.traffic.up == much.size();
        });
        for (int i = 0; i < 100; ++i)
            co_await next_turn{t.w};
        t.peer.reset();
        co_await t.until([&] {
            t.hear();
            return t.origin_ended || t.origin_broken;
        });
        CHECK((t.heard == much));
        CHECK(t.origin_ended);
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.outcome->reason == close_reason::client_reset);
}

TEST_CASE("nor is one whose upstream has begun to answer, and goes on")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    std::string const much(512 * 1024, 'x');
    std::string const answer(256 * 1024, 'y');
    s.play([&](scene& t) -> net::task<> {
        receive_slowly(t.origin());
        receive_slowly(t.peer.fd());
        t.peer.write(much);
        t.peer.close();
        // Until nothing goes any more either way: the client takes nothing, so bytes of the answer
        // stay unread in the relay's socket.
        std::size_t sent = 0;
        auto const speak = [&] {
            ssize_t const n =
                ::send(t.origin(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += n > 0 ? static_cast<std::size_t>(n) : 0;
            return n > 0;
        };
        for (int still = 0; still < 1000 || t.traffic.up < much.size();) {
            t.peer.flush();
            still = speak() ? 0 : still + 1;
            co_await next_turn{t.w};
        }
        CHECK(t.traffic.down < sent);
        t.peer.reset();
        co_await t.until([&] {
            speak();
            t.hear();
            return t.origin_ended || t.origin_broken;
        });
        CHECK((t.heard == much));
        CHECK(t.origin_ended);
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.outcome->reason == close_reason::client_reset);
}

TEST_CASE("an upstream that breaks after the end of its answer harms nobody")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.say("all of it");
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.plaintext() == "all of it" && t.peer.end() == error::closed;
        });
        t.reset_origin();
        for (int i = 0; i < 50; ++i)
            co_await next_turn{t.w};
        CHECK(!t.outcome);
        t.peer.write("late");
        t.peer.close();
        co_await t.until_over();
        CHECK(!t.peer.broken());
    });
    CHECK(s.outcome->reason == close_reason::done);
}

TEST_CASE("a slow client has the idle timeout for an answer whose upstream broke after the end")
{
    scene s{socket_kind::tcp, socket_kind::tcp, {.idle = 1h, .linger = 20ms}, 1};
    std::string const answer(limits::turn_min - 16 * 1024, 'x');
    s.play([&](scene& t) -> net::task<> {
        // One turn of the relay takes all of it with its end; the client's socket does not.
        t.say(answer);
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until([&] { return t.traffic.down == answer.size(); });
        t.reset_origin();
        co_await t.outlast_the_linger_timeout();
        CHECK(!t.outcome); // After a break before the end, the client would have had 20 ms.
        co_await t.until([&] {
            t.peer.receive_raw();
            return static_cast<bool>(t.peer.end());
        });
        CHECK((t.peer.plaintext() == answer));
        CHECK(t.peer.end() == error::closed);
    });
}

TEST_CASE("an upload that cleat cuts off itself ends in a reset for the upstream")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.peer.write("half an upl");
        co_await t.until([&] { return t.hear() == "half an upl"; });
        t.w.interrupt_all();
        co_await t.until_over();
        CHECK(t.origin_is_reset());
    });
    CHECK(s.outcome->reason == close_reason::stopped);
}

} // namespace
} // namespace cleat::app::relay_resets_test
