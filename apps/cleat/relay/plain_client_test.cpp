#include "relay/plain_client.hpp"
#include "relay/relay_scene_for_tests.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace cleat::app::plain_client_test {
namespace {

using net::socket_kind;

// A relay between two sockets; the script holds the other ends.
struct plain_scene
{
    explicit plain_scene(relay_deadlines timeouts = {}, int buffer = 0)
        : client{net::make_sockets(socket_kind::tcp, buffer)}
        , upstream{net::make_sockets(socket_kind::tcp)}
        , deadlines{timeouts}
    {
    }

    net::detached serve()
    {
        plain_client here{net::socket{w, std::move(client.first)}};
        upstream_side there{net::socket{w, std::move(upstream.first)}, {}};
        net::interrupt interrupt{w};
        outcome = co_await relay(interrupt, here, there, deadlines, traffic);
    }

    template <class Condition>
    net::task<> until(Condition met)
    {
        for (int i = 0; i < turns_max; ++i) {
            if (met())
                co_return;
            co_await next_turn{w};
        }
        FAIL_CHECK("waits in vain");
    }

    static void say(unique_fd const& end, std::string_view text)
    {
        REQUIRE(
            ::send(end.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
    }

    // Adds the bytes that have come; an end is ".", a break "!".
    static void hear(unique_fd const& end, std::string& heard)
    {
        std::array<char, 65536> block;
        if (heard.ends_with('.') || heard.ends_with('!'))
            return;
        ssize_t const n = ::recv(end.get(), block.data(), block.size(), MSG_DONTWAIT);
        if (n > 0)
            heard.append(block.data(), static_cast<std::size_t>(n));
        else if (n == 0)
            heard += '.';
        else if (errno != EAGAIN)
            heard += '!';
    }

    net::task<> until_heard(unique_fd const& end, std::string wanted)
    {
        std::string heard;
        co_await until([&] {
            hear(end, heard);
            return heard == wanted;
        });
    }

    template <class Script>
    void play(Script script)
    {
        auto const whole = [&]() -> net::detached {
            co_await script(*this);
            w.stop();
        };
        serve();
        whole();
        w.run();
    }

    net::worker w;
    std::pair<unique_fd, unique_fd> client;
    std::pair<unique_fd, unique_fd> upstream;
    relay_deadlines deadlines;
    byte_counts traffic;
    std::optional<relay_outcome> outcome;
};

TEST_CASE("bytes go both ways as they are, and a client that ends first has its answer")
{
    plain_scene s;
    s.play([](plain_scene& t) -> net::task<> {
        plain_scene::say(t.client.second, "question");
        REQUIRE(::shutdown(t.client.second.get(), SHUT_WR) == 0);
        co_await t.until_heard(t.upstream.second, "question.");
        plain_scene::say(t.upstream.second, "answer");
        t.upstream.second.reset();
        co_await t.until_heard(t.client.second, "answer.");
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.outcome->reason == close_reason::done);
    CHECK(s.traffic.up == 8);
    CHECK(s.traffic.down == 6);
}

TEST_CASE("the end of the answer is a FIN at once, and the client still speaks")
{
    plain_scene s;
    s.play([](plain_scene& t) -> net::task<> {
        plain_scene::say(t.upstream.second, "bye");
        REQUIRE(::shutdown(t.upstream.second.get(), SHUT_WR) == 0);
        co_await t.until_heard(t.client.second, "bye.");
        CHECK_FALSE(t.outcome.has_value());
        plain_scene::say(t.client.second, "more");
        t.client.second.reset();
        co_await t.until_heard(t.upstream.second, "more.");
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.outcome->reason == close_reason::done);
}

TEST_CASE("a full socket holds the answer back, and no byte is lost")
{
    plain_scene s{{}, 4096};
    std::string const part(60'000, 'x');
    s.play([&](plain_scene& t) -> net::task<> {
        std::size_t sent = 0;
        while (sent < 20'000'000) {
            ssize_t const n = ::send(
                t.upstream.second.get(), part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n > 0)
                sent += static_cast<std::size_t>(n);
            std::size_t const before = t.traffic.down;
            for (int i = 0; i != 50; ++i)
                co_await next_turn{t.w};
            if (n < 0 && t.traffic.down == before)
                break; // All are full.
        }
        CHECK(sent < 20'000'000);
        t.upstream.second.reset();
        std::size_t heard = 0;
        co_await t.until([&] {
            std::string more;
            plain_scene::hear(t.client.second, more);
            heard += more == "." ? 0 : more.size();
            return more == ".";
        });
        CHECK(heard == sent);
        t.client.second.reset();
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.outcome->reason == close_reason::done);
}

// Both ways, until each end has heard all that the other said.
TEST_CASE("a transfer goes through the pipe, and arrives as it was sent")
{
    std::string text;
    for (int i = 0; text.size() < 8'000'000; ++i)
        text += std::to_string(i) + ' ';
    plain_scene s;
    s.play([&](plain_scene& t) -> net::task<> {
        struct way
        {
            unique_fd& from;
            unique_fd& to;
            std::size_t sent = 0;
            std::string heard{};
        };
        std::array<way, 2> ways{
            way{t.client.second, t.upstream.second}, way{t.upstream.second, t.client.second}};
        co_await t.until([&] {
            bool is_over = true;
            for (way& each : ways) {
                ssize_t const n = ::send(
                    each.from.get(), text.data() + each.sent, text.size() - each.sent,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
                if (n > 0)
                    each.sent += static_cast<std::size_t>(n);
                plain_scene::hear(each.to, each.heard);
                is_over = is_over && each.heard.size() == text.size();
            }
            return is_over;
        });
        CHECK(ways[0].heard == text);
        CHECK(ways[1].heard == text);
        t.client.second.reset();
        t.upstream.second.reset();
        co_await t.until([&] { return t.outcome.has_value(); });
    });
    CHECK(s.traffic.up == text.size());
    CHECK(s.traffic.down == text.size());
}

TEST_CASE("a break of one side breaks the other")
{
    for (bool const client_breaks : {true, false}) {
        plain_scene s;
        s.play([&](plain_scene& t) -> net::task<> {
            unique_fd& broken = client_breaks ? t.client.second : t.upstream.second;
            unique_fd& other = client_breaks ? t.upstream.second : t.client.second;
            plain_scene::say(broken, "part");
            co_await t.until_heard(other, "part");
            linger const at_once{1, 0};
            REQUIRE(
                ::setsockopt(broken.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
            broken.reset();
            co_await t.until_heard(other, "!");
            co_await t.until([&] { return t.outcome.has_value(); });
        });
        CHECK(
            s.outcome->reason ==
            (client_breaks ? close_reason::client_reset : close_reason::upstream_reset));
    }
}

} // namespace
} // namespace cleat::app::plain_client_test
