// A relay with bytes, ends and breaks of both sides.

#include "relay/relay_scene_for_tests.hpp"

namespace cleat::app::relay_test {
namespace {

using namespace std::chrono_literals;
using net::bytes_of;
using net::socket_kind;

TEST_CASE("bytes go both ways, and a client that closes first still reads its answer")
{
    for (socket_kind const kind : {socket_kind::unix_pair, socket_kind::tcp}) {
        scene s{kind, kind};
        s.play([](scene& t) -> net::task<> {
            t.peer.write("question");
            co_await t.until([&] { return t.hear() == "question"; });
            CHECK(!t.origin_ended);
            t.peer.close();
            co_await t.until([&] { return t.hear().size() == 8 && t.origin_ended; });
            CHECK(!t.outcome);
            t.say("answer");
            REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
            co_await t.until_over();
            CHECK(t.peer.plaintext() == "answer");
            CHECK(t.peer.end() == error::closed);
        });
        REQUIRE(s.outcome);
        CHECK(s.outcome->reason == close_reason::done);
        CHECK(s.traffic.up == 8);
        CHECK(s.traffic.down == 6);
    }
}

TEST_CASE("an upstream that closes first is still sent what the client has to say")
{
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.say("hello and goodbye");
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.end() == error::closed;
        });
        t.peer.write("one");
        co_await t.until([&] { return t.hear() == "one"; });
        t.peer.write("two");
        co_await t.until([&] { return t.hear() == "onetwo"; });
        CHECK(!t.outcome);
        t.peer.close();
        co_await t.until_over();
        t.hear();
        CHECK(t.origin_ended);
    });
    CHECK(s.outcome->reason == close_reason::done);
}

TEST_CASE("an answer and its end leave in one packet")
{
    scene s{socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        unsigned const before = net::segments_received(t.peer.fd());
        t.say("answer");
        t.upstream_ends.second.reset();
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.end() == error::closed;
        });
        CHECK(net::segments_received(t.peer.fd()) == before + 1);
        t.peer.close();
        co_await t.until_over();
        CHECK(t.peer.plaintext() == "answer");
    });
}

TEST_CASE(
    "a client that says nothing after the handshake has its ticket soon, and the answer comes in "
    "one packet afterwards")
{
    scene s{socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        std::size_t ticket =
            t.peer.receive_raw(); // It may have come with the handshake's last turn.
        co_await t.until([&] { return (ticket += t.peer.receive_raw()) != 0; });
        unsigned const before = net::segments_received(t.peer.fd());
        t.say("answer");
        co_await t.until([&] { return t.peer.receive_raw() != 0; });
        CHECK(net::segments_received(t.peer.fd()) == before + 1);
        CHECK(t.peer.plaintext() == "answer");
        t.peer.close();
        t.upstream_ends.second.reset();
        co_await t.until_over();
    });
}

TEST_CASE("a client that asks right behind the handshake gets its ticket with the answer")
{
    scene s{socket_kind::tcp};
    unsigned before = 0;
    s.at_handshake = [&](client_side&) {
        before = net::segments_received(s.peer.fd());
        s.peer.write("question");
    };
    s.play([&](scene& t) -> net::task<> {
        co_await t.until([&] { return t.hear() == "question"; });
        t.say("answer");
        co_await t.until([&] { return t.peer.receive_raw() != 0; });
        CHECK(net::segments_received(t.peer.fd()) == before + 1);
        CHECK(t.peer.plaintext() == "answer");
        t.peer.close();
        t.upstream_ends.second.reset();
        co_await t.until_over();
    });
}

// OpenSSL takes a connection with half of a KeyUpdate for one in a handshake, and writes nothing.
// That may end this connection, and no other.
TEST_CASE("a client that begins a KeyUpdate and does not end it harms nobody else")
{
    tls::half_key_update const listens{net::contexts().client};
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.peer.send_raw(tls::half_key_update::record());
        t.say("answer");
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.outcome.has_value() || t.peer.plaintext() == "answer";
        });
        if (t.outcome)
            CHECK(t.outcome->error == error::protocol_violation);
        else
            t.peer.shutdown_send();
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        co_await t.until_over();
    });
}

TEST_CASE("a client's FIN without close_notify is passed on, and counted as a truncation")
{
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.peer.write("half");
        t.peer.shutdown_send();
        co_await t.until([&] { return t.hear() == "half" && t.origin_ended; });
        t.upstream_ends.second.reset();
        co_await t.until_over();
    });
    CHECK(s.outcome->reason == close_reason::client_truncated);
}

TEST_CASE("a client that ends together with its handshake is not waited for")
{
    scene s;
    auto const script = [&]() -> net::detached {
        // The client's Finished and FIN come in one go, and one event.
        co_await s.until([&] {
            s.peer.handshake();
            return s.peer.established();
        });
        s.peer.shutdown_send();
        s.upstream_ends.second.reset();
        co_await s.until_over();
        s.w.stop();
    };
    script();
    s.w.run();
    REQUIRE(s.outcome);
    CHECK(s.outcome->reason == close_reason::client_truncated);
}

TEST_CASE("an upstream's reset is the client's")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.say("half an ans");
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.plaintext() == "half an ans";
        });
        t.reset_origin();
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.broken() || t.peer.saw_fin();
        });
        CHECK(t.peer.broken() == boost::system::errc::connection_reset);
    });
    CHECK(s.outcome->reason == close_reason::upstream_reset);
}

TEST_CASE("a client's reset is the upstream's")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.peer.write("half a quest");
        co_await t.until([&] { return t.hear() == "half a quest"; });
        t.peer.reset();
        co_await t.until([&] { return t.outcome.has_value(); });
        CHECK(t.origin_is_reset());
    });
    CHECK(s.outcome->reason == close_reason::client_reset);
}

TEST_CASE(
    "a client that breaks TLS is told by an alert and ends its upstream's connection by a reset")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.peer.send_raw(std::string{"\x17\x03\x03\x00\x20", 5} + std::string(32, 'x'));
        co_await t.until_over();
        CHECK(t.origin_is_reset());
        CHECK(t.peer.end() == error::peer_alert);
    });
    CHECK(s.outcome->reason == close_reason::client_failed);
    CHECK(s.outcome->error == error::protocol_violation);
}

TEST_CASE("a client that does not read stops its upstream, and loses nothing")
{
    scene s{socket_kind::unix_pair, socket_kind::unix_pair, no_deadlines, 8192};
    s.play([](scene& t) -> net::task<> {
        std::vector<std::byte> const data = net::pattern(4'000'000);
        std::size_t sent = 0;
        auto const pour = [&] {
            ssize_t const n = ::send(
                t.origin(), data.data() + sent, data.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += n > 0 ? static_cast<std::size_t>(n) : 0;
        };
        for (int i = 0; i < 200; ++i) {
            pour();
            co_await next_turn{t.w};
        }
        CHECK(sent < data.size());
        CHECK(t.traffic.down <= limits::unsent_max); // The relay takes no more than this.
        co_await t.until([&] {
            pour();
            t.peer.receive_raw();
            return t.peer.bytes().size() == data.size();
        });
        CHECK(t.peer.bytes() == data);
    });
}

TEST_CASE("an upstream that does not read stops its client, and loses nothing")
{
    scene s{socket_kind::unix_pair, socket_kind::unix_pair, no_deadlines, 8192};
    s.play([](scene& t) -> net::task<> {
        std::vector<std::byte> const data = net::pattern(3'000'000);
        t.peer.write(data); // The client keeps the bytes that the socket does not take.
        t.peer.close();
        for (int i = 0; i < 200; ++i) {
            t.peer.flush();
            co_await next_turn{t.w};
        }
        CHECK(!t.peer.flush());
        CHECK(t.traffic.up <= limits::unsent_max);
        co_await t.until([&] {
            t.peer.flush();
            t.hear();
            return t.origin_ended;
        });
        CHECK(t.heard == net::text_of(data));
    });
}

TEST_CASE("large streams cross in both directions at once")
{
    for (socket_kind const kind : {socket_kind::unix_pair, socket_kind::tcp}) {
        scene s{kind, kind};
        s.play([](scene& t) -> net::task<> {
            std::vector<std::byte> const data = net::pattern(5'000'000);
            t.peer.write(data);
            std::size_t sent = 0;
            co_await t.until([&] {
                t.peer.flush();
                ssize_t const n = ::send(
                    t.origin(), data.data() + sent, data.size() - sent,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
                sent += n > 0 ? static_cast<std::size_t>(n) : 0;
                t.hear();
                t.peer.receive_raw();
                return t.heard.size() == data.size() && t.peer.bytes().size() == data.size();
            });
            CHECK(t.peer.bytes() == data);
            CHECK(t.heard == net::text_of(data));
        });
    }
}

TEST_CASE("an upstream that answers early and goes is heard to its end")
{
    for (socket_kind const kind : {socket_kind::unix_pair, socket_kind::tcp}) {
        scene s{socket_kind::tcp, kind};
        s.play([](scene& t) -> net::task<> {
            t.peer.write("a beginning");
            co_await t.until([&] { return t.hear() == "a beginning"; });
            // The client's bytes are known before the upstream's answer and its end.
            t.peer.write("more");
            t.say("no, thank you");
            t.upstream_ends.second.reset();
            co_await t.until([&] {
                t.peer.receive_raw();
                return t.peer.end() || t.outcome;
            });
            CHECK(t.peer.plaintext() == "no, thank you");
            CHECK(t.peer.end() == error::closed);
            // The client goes on sending for a while, and gets no reset for it.
            for (int i = 0; i < 20; ++i) {
                t.peer.write("and more");
                co_await next_turn{t.w};
            }
            CHECK(!t.outcome);
            t.peer.receive_raw();
            CHECK(!t.peer.broken());
            t.peer.close();
            co_await t.until_over();
        });
        CHECK(s.outcome->reason == close_reason::done);
    }
}

TEST_CASE("an upstream that breaks off in its answer is heard, and then its reset passed on")
{
    scene s{socket_kind::tcp, socket_kind::tcp};
    s.play([](scene& t) -> net::task<> {
        t.peer.write("a beginning");
        co_await t.until([&] { return t.hear() == "a beginning"; });
        // The send that finds the connection broken takes the error, and the read finds none.
        t.peer.write("more");
        t.say("half an ans");
        t.reset_origin();
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.outcome.has_value();
        });
        t.peer.receive_raw();
        CHECK(t.peer.end() != error::closed); // The client must not take half for a whole.
    });
    CHECK(s.outcome->reason == close_reason::upstream_reset);
}

TEST_CASE("an answer to a KeyUpdate that finds the client's socket full stops the upstream, not "
          "the worker")
{
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.say("first");
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.plaintext() == "first";
        });
        net::fill(t.client_fd);
        t.peer.request_key_update("new keys");
        co_await t.until([&] { return t.hear() == "new keys"; });
        t.say("second");
        for (int i = 0; i < 50; ++i)
            co_await next_turn{t.w};
        CHECK(!t.outcome);
        net::drain(t.peer.fd());
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.plaintext() == "firstsecond";
        });
    });
}

TEST_CASE("what finds the client's socket full before the relay begins goes before the answer")
{
    scene s;
    s.at_handshake = [](client_side& client) {
        std::string const much(limits::turn_min, 'x');
        net::channel::piece const pieces[] = {net::bytes_of(much)};
        while (client.channel.write(client.socket.native_handle(), pieces).next == net::wait::none)
            ;
        CHECK(client.channel.unsent());
    };
    s.play([](scene& t) -> net::task<> {
        t.say("answer");
        for (int i = 0; i < 50; ++i)
            co_await next_turn{t.w};
        CHECK(!t.outcome);
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.plaintext().ends_with("answer");
        });
        CHECK(t.peer.plaintext().find_first_not_of('x') == t.peer.plaintext().size() - 6);
    });
}

TEST_CASE("the idle timeout counts from the last byte that moved")
{
    constexpr auto idle = 40ms;
    scene s{socket_kind::unix_pair, socket_kind::unix_pair, {.idle = idle}};
    s.play([&](scene& t) -> net::task<> {
        // A byte in every turn of the loop. A turn passes on what is ready before it looks at
        // deadlines, so the relay is never idle, even if the machine stops the test for a while.
        net::worker::clock::time_point const began = t.w.now();
        net::worker::clock::time_point last = began;
        std::size_t written = 0;
        while (t.w.now() - began < 3 * idle) {
            t.peer.write("x");
            ++written;
            last = t.w.now();
            co_await next_turn{t.w};
            t.hear();
        }
        CHECK(!t.outcome);
        co_await t.until([&] { return t.outcome.has_value(); });
        CHECK(t.w.now() - last >= idle);
        CHECK(t.hear().size() == written);
    });
    REQUIRE(s.outcome);
    CHECK(s.outcome->reason == close_reason::idle_timeout);
}

TEST_CASE("a client that does not close gets the FIN by itself soon after the answer")
{
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.say("answer");
        t.upstream_ends.second.reset();
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.saw_fin();
        });
        CHECK(t.peer.end() == error::closed);
        CHECK(!t.outcome);
        t.peer
            .shutdown_send(); // Without close_notify: after the whole answer that is no truncation.
        co_await t.until_over();
    });
    CHECK(s.outcome->reason == close_reason::done);
}

TEST_CASE("an upstream that has ended may take its time with the rest of the upload")
{
    scene s{socket_kind::tcp, socket_kind::unix_pair, {.linger = 20ms}, 0, 8192};
    s.play([](scene& t) -> net::task<> {
        t.say("answered early");
        REQUIRE(::shutdown(t.origin(), SHUT_WR) == 0);
        std::vector<std::byte> const data = net::pattern(2'000'000);
        t.peer.write(data);
        t.peer.close();
        co_await t.until([&] { return t.peer.flush() || t.traffic.up > limits::turn_max; });
        co_await t.outlast_the_linger_timeout();
        CHECK(!t.outcome);
        co_await t.until([&] {
            t.peer.flush();
            t.peer.receive_raw();
            t.hear();
            return t.origin_ended || t.origin_broken;
        });
        CHECK(t.origin_ended);
        CHECK(t.heard == net::text_of(data));
        CHECK(t.peer.saw_fin()); // The client got its own end before that.
        co_await t.until_over();
    });
    CHECK(s.outcome->reason == close_reason::done);
}

TEST_CASE("a client is not left while the kernel still holds some of its answer")
{
    scene s{socket_kind::tcp, socket_kind::unix_pair, {.linger = 20ms}};
    std::vector<std::byte> const data = net::pattern(1'500'000);
    s.play([&](scene& t) -> net::task<> {
        std::size_t sent = 0;
        co_await t.until([&] {
            ssize_t const n = ::send(
                t.origin(), data.data() + sent, data.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += n > 0 ? static_cast<std::size_t>(n) : 0;
            return sent == data.size() && t.traffic.down == sent;
        });
        t.upstream_ends.second.reset();
        co_await t.outlast_the_linger_timeout();
        CHECK(!t.outcome);
        co_await t.until([&] {
            t.peer.receive_raw();
            return t.peer.bytes().size() == data.size();
        });
        CHECK(t.peer.bytes() == data);
        CHECK(t.peer.end() == error::closed);
        co_await t.until_over(); // It has the whole answer, and does not close.
    });
    CHECK(s.outcome->reason == close_reason::linger_timeout);
}

TEST_CASE("a client that stops taking its answer has the idle timeout, wherever the answer is held")
{
    scene s{socket_kind::tcp, socket_kind::unix_pair, {.idle = 100ms, .linger = 20ms}};
    std::vector<std::byte> const data = net::pattern(1'500'000);
    s.play([&](scene& t) -> net::task<> {
        std::size_t sent = 0;
        co_await t.until([&] {
            ssize_t const n = ::send(
                t.origin(), data.data() + sent, data.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
            sent += n > 0 ? static_cast<std::size_t>(n) : 0;
            return (sent == data.size() && t.traffic.down == sent) || t.outcome;
        });
        t.upstream_ends.second.reset();
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    REQUIRE(s.outcome);
    CHECK(s.outcome->reason == close_reason::idle_timeout);
}

TEST_CASE("the end of the worker is the end of its relays")
{
    scene s;
    s.play([](scene& t) -> net::task<> {
        t.w.interrupt_all();
        co_await t.until_over();
    });
    CHECK(s.outcome->reason == close_reason::stopped);
}

} // namespace
} // namespace cleat::app::relay_test
