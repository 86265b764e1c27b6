// A relay on a real worker and real sockets, for tests. A script plays the client's TLS and the
// upstream, and lets the worker's loop turn until the condition that it waits for is met.

#pragma once

#include "connection/handshake.hpp"
#include "relay/relay.hpp"

#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {

inline constexpr int turns_max = 300'000; // More than any script here needs: it hangs.

// For scripts whose end no deadline may bring, however slow the machine is.
inline constexpr relay_deadlines no_deadlines{.linger = std::chrono::hours{1}};

// One turn of the worker's loop.
struct next_turn : net::task_node
{
    explicit next_turn(net::worker& w) : worker{w} {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept
    {
        caller = h;
        finish = [](task_node& n, bool) noexcept { static_cast<next_turn&>(n).caller.resume(); };
        worker.push(*this);
    }
    static void await_resume() noexcept {}

    net::worker& worker;
    std::coroutine_handle<> caller;
};

struct scene
{
    explicit scene(
        net::socket_kind client_kind = net::socket_kind::unix_pair,
        net::socket_kind upstream_kind = net::socket_kind::unix_pair,
        relay_deadlines timeouts = no_deadlines, int client_buffer = 0, int upstream_buffer = 0)
        : client_ends{net::make_sockets(client_kind, client_buffer)}
        , upstream_ends{net::make_sockets(upstream_kind, upstream_buffer)}
        , peer{net::contexts().client, client_ends.second.get()}
        , client_fd{client_ends.first.get()}
        , deadlines{timeouts}
    {
        serve();
    }

    // As in terminate(), the coroutine owns the sockets.
    net::detached serve()
    {
        client_side client{
            net::socket{w, std::move(client_ends.first)}, net::channel{net::contexts().server}};
        upstream_side upstream{net::socket{w, std::move(upstream_ends.first)}, {}};
        net::interrupt interrupt{w};
        error_code const failed = co_await handshake(interrupt, client, {half_open});
        CHECK(!failed);
        client.ticket.begin();
        established = true;
        if (at_handshake)
            at_handshake(client);
        outcome = co_await relay(interrupt, client, upstream, deadlines, traffic);
    }

    template <class Condition>
    net::task<> until(Condition met)
    {
        // Turns pass more quickly than the kernel's timers, such as a delayed acknowledgment's.
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
        for (int i = 0; i < turns_max || std::chrono::steady_clock::now() < deadline; ++i) {
            if (met())
                co_return;
            co_await next_turn{w};
        }
        FAIL_CHECK("waits in vain");
    }

    net::task<> shake()
    {
        co_await until([&] {
            peer.handshake();
            return peer.established() && established;
        });
    }

    net::task<> until_over()
    {
        co_await until([&] {
            peer.receive_raw();
            return outcome.has_value();
        });
    }

    // Longer than any linger timeout of the tests.
    net::task<> outlast_the_linger_timeout()
    {
        net::interrupt interrupt{w};
        interrupt.expires_in(std::chrono::milliseconds{200}, error::idle_timeout);
        static_cast<void>(co_await net::pause(interrupt));
    }

    // The upstream's side.
    void say(std::string_view text)
    {
        REQUIRE(
            ::send(origin(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
    }
    std::string const& hear()
    {
        std::array<char, 65536> block;
        while (!origin_ended) {
            ssize_t const n = ::recv(origin(), block.data(), block.size(), MSG_DONTWAIT);
            if (n < 0) {
                origin_broken = origin_broken || errno != EAGAIN;
                break;
            }
            origin_ended = n == 0 && !origin_broken;
            if (n == 0)
                break;
            heard.append(block.data(), static_cast<std::size_t>(n));
        }
        return heard;
    }
    [[nodiscard]] bool origin_is_reset()
    {
        // The kernel reports it once, and after a FIN (EPIPE then) not to recv.
        int error = 0;
        socklen_t size = sizeof error;
        REQUIRE(::getsockopt(origin(), SOL_SOCKET, SO_ERROR, &error, &size) == 0);
        return origin_broken || error == ECONNRESET || error == EPIPE;
    }
    void reset_origin()
    {
        linger const at_once{1, 0};
        REQUIRE(::setsockopt(origin(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
        upstream_ends.second.reset();
    }
    [[nodiscard]] int origin() const { return upstream_ends.second.get(); }

    template <class Script>
    void play(Script script)
    {
        auto const whole = [&]() -> net::detached {
            co_await shake();
            co_await script(*this);
            w.stop();
        };
        whole();
        w.run();
    }

    net::worker w;
    half_open_list half_open;
    std::pair<unique_fd, unique_fd> client_ends;
    std::pair<unique_fd, unique_fd> upstream_ends;
    net::tls_peer peer;
    int client_fd; ///< The relay's end of the client's connection.
    relay_deadlines deadlines;
    std::function<void(client_side&)> at_handshake;
    byte_counts traffic;
    bool established = false;
    bool origin_ended = false;
    bool origin_broken = false;
    std::string heard;
    std::optional<relay_outcome> outcome;
};

} // namespace cleat::app
