// A connection to this machine, or to a machine nearby, is often established by the time connect()
// returns EINPROGRESS. So the first bytes are sent at once. If the socket takes them, that saves a
// pass of the event loop; if not, it has cost one system call.

#include "connect/connect.hpp"
#include "connect/connect_race.hpp"
#include "connect/connect_steps.hpp"
#include "upstream/connecting.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {
namespace {

// The bytes that the upstream gets first. They lie in a block of the thread's scratch, so they are
// copied before the first wait, and only then.
class greeting
{
public:
    explicit greeting(std::span<std::byte const> bytes) noexcept : borrowed_{bytes} {}

    [[nodiscard]] std::span<std::byte const> bytes() const noexcept
    {
        return borrowed_.empty() ? kept_.front() : borrowed_;
    }

    // False: no memory for the copy.
    [[nodiscard]] bool keep()
    {
        return kept_.append(std::exchange(borrowed_, {}), limits::unsent_max);
    }

    // Gives the copy away.
    [[nodiscard]] byte_queue kept() && noexcept { return std::move(kept_); }

private:
    std::span<std::byte const> borrowed_;
    byte_queue kept_;
};

// Tries whenever this connection is the first of the queue, until there is room.
net::task<result<net::socket>> start_from_queue(net::interrupt& interrupt, upstream_choice& choice)
{
    connect_queue::place place{choice.queue(), interrupt};
    for (;;) {
        if (error_code const ec = co_await place.reached())
            co_return ec;
        result<net::socket> started = choice.start();
        if (started || !is_full(choice.address(), started.error()))
            co_return started;
    }
}

// Waits until the server has room, and gives the connect the whole time again. Success with
// choice.waits(): the server left service, so another one is tried. An error: the interrupt is
// raised, or the client has left.
net::task<error_code> wait_in_line(upstream_choice& choice, connect_time& time)
{
    time.limit(1);
    connect_queue::place place{choice.line(), time.interrupt()};
    for (;;) {
        error_code const ec = co_await place.reached();
        if (ec)
            co_return ec;
        if (choice.look_at_client())
            co_return make_error_code(boost::system::errc::connection_reset);
        if (choice.leaves_line()) {
            choice.pass_over();
            co_return error_code{};
        }
        if (choice.admit()) {
            time.renew();
            co_return error_code{};
        }
    }
}

// Waits until a local port is free to one of the servers. The time is what the connect has left.
net::task<result<net::socket>> start_with_port(upstream_choice& choice, connect_time const& time)
{
    time.limit(1);
    choice.awaits_port();
    connect_queue::place place{choice.ports(), time.interrupt()};
    for (;;) {
        error_code const ec = co_await place.reached();
        if (ec == error::connect_timeout)
            co_return make_error_code(error::local_ports_used_up);
        if (ec)
            co_return ec;
        result<net::socket> started = choice.start_again();
        if (started || !choice.lacks_port())
            co_return started;
    }
}

error_code no_memory() noexcept
{
    return make_error_code(boost::system::errc::not_enough_memory);
}

// The upstream is connected. The result keeps the first bytes that its socket has not taken; all of
// them, if the send would block.
result<upstream_side> greeted(upstream_side upstream, greeting hello, net::io_result const& sent)
{
    if (sent.would_block) {
        upstream.unsent = std::move(hello).kept();
        return upstream;
    }
    upstream.sends = hello.bytes().empty() ? 0 : 1;
    std::span<std::byte const> const rest = hello.bytes().subspan(sent.bytes);
    if (!rest.empty() && !upstream.unsent.append(rest, limits::unsent_max)) {
        upstream.socket.reset(); // An RST: the upstream must not take a part for the whole.
        return no_memory();
    }
    return upstream;
}

} // namespace

std::chrono::milliseconds connect_time::part(std::size_t parts) const noexcept
{
    using std::chrono::milliseconds;
    if (whole_.count() == 0)
        return whole_;
    net::worker::clock::duration const left = until_ - interrupt_.worker().now();
    return std::max(
        std::chrono::duration_cast<milliseconds>(left / static_cast<int>(parts)), milliseconds{1});
}

void connect_time::limit(std::size_t parts) const
{
    if (whole_.count() != 0)
        interrupt_.expires_in(part(parts), error::connect_timeout);
}

net::task<result<net::socket>> start_in_turn(upstream_choice& choice, connect_time& time)
{
    if (!choice.has_server())
        co_return co_await start_with_port(choice, time);
    if (choice.waits()) {
        error_code const failed = co_await wait_in_line(choice, time);
        if (failed)
            co_return failed;
        if (choice.waits())
            co_return make_error_code(error::no_server);
        result<net::socket> started = no_memory();
        if (start_at_once(choice, time, started))
            co_return started;
    }
    co_return co_await start_from_queue(time.interrupt(), choice);
}

bool goes_on(net::interrupt& interrupt, upstream_choice& choice, error_code& why)
{
    if (choice.client_has_left())
        return false;
    if (!choice.has_server()) // No port is free, or all servers failed after one became free.
        return !interrupt.raised();
    if (!interrupt.raised()) {
        choice.failed(why);
        return true;
    }
    why = interrupt.raised();
    if (why != error::connect_timeout)
        return false;
    if (choice.waits()) {
        why = error::servers_full;
        return false;
    }
    choice.failed(why);
    if (choice.others() == 0)
        return false;
    interrupt.clear();
    return true;
}

net::task<result<upstream_side>> connect(
    net::interrupt& interrupt, upstream_choice& choice, std::span<std::byte const> first,
    std::chrono::milliseconds timeout)
{
    greeting hello{first};
    connect_time time{interrupt, timeout};
    error_code why = error::no_server;
    while (choice.next() != nullptr || choice.lacks_port()) {
        result<net::socket> started = no_memory();
        if (!start_at_once(choice, time, started)) {
            if (!hello.keep())
                co_return no_memory();
            started = co_await start_in_turn(choice, time);
        }
        if (!started) {
            why = started.error();
            if (!goes_on(interrupt, choice, why))
                co_return why;
            continue;
        }
        upstream_side upstream{std::move(*started), {}};
        // An empty send to a UNIX socket fails where the server has sent bytes and closed.
        bool const asks = !is_unix(choice.address()) || !hello.bytes().empty();
        net::io_result const sent = asks ? upstream.socket.send(hello.bytes()) : net::io_result{};
        why = sent.error;
        if (sent.would_block) {
            if (!hello.keep())
                co_return no_memory();
            if (choice.rival() != nullptr) {
                why = co_await race(choice, time, upstream.socket);
            } else {
                why = co_await net::ready{interrupt, until_connected(upstream.socket)};
                if (!why)
                    why = upstream.socket.error();
            }
        }
        if (!why) {
            choice.answered();
            co_return greeted(std::move(upstream), std::move(hello), sent);
        }
        if (!goes_on(interrupt, choice, why))
            co_return why;
    }
    co_return why;
}

} // namespace cleat::app
