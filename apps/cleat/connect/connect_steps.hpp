// connect_steps: what connect and connect_with_tls have in common.

#pragma once

#include "upstream/connect_queue.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <chrono>
#include <cstddef>

#include <sys/socket.h>

namespace cleat::app {

/// connect_time is the time that a connection has for all attempts to connect together.
class connect_time
{
public:
    /// `whole` is zero where there is no limit. It begins now.
    connect_time(net::interrupt& interrupt, std::chrono::milliseconds whole) noexcept
        : interrupt_{interrupt}, whole_{whole}
    {
        renew();
    }

    [[nodiscard]] net::interrupt& interrupt() const noexcept { return interrupt_; }

    /// renew: the time starts anew.
    void renew() noexcept { until_ = interrupt_.worker().now() + whole_; }

    /// part is an equal part of the time that is left, and at least a millisecond; zero where there
    /// is no limit.
    [[nodiscard]] std::chrono::milliseconds part(std::size_t parts) const noexcept;

    /// limit sets the deadline of the next attempt to its part. The interrupt is raised when it
    /// passes.
    void limit(std::size_t parts) const;

private:
    net::interrupt& interrupt_;
    std::chrono::milliseconds whole_;
    net::worker::clock::time_point until_{};
};

[[nodiscard]] inline bool is_unix(net::address const& address) noexcept
{
    return address.data()->sa_family == AF_UNIX;
}

/// is_full: a UNIX socket whose backlog is full refuses at once; with TCP the kernel would try
/// again.
[[nodiscard]] inline bool is_full(net::address const& address, error_code why) noexcept
{
    return is_unix(address) && why == boost::system::errc::resource_unavailable_try_again;
}

/// start_at_once starts a connect to the choice's address, with its part of the time. False: the
/// connection has to queue; call start_in_turn. The reasons: no local port is free, the server has
/// as many connections as it may have, or its backlog is full and there is no other address. The
/// backlog counts as full while earlier connections wait for it.
[[nodiscard]] inline bool start_at_once(
    upstream_choice& choice, connect_time const& time, result<net::socket>& started)
{
    if (!choice.has_server() || choice.waits())
        return false;
    std::size_t const others = choice.others();
    time.limit(others + 1);
    if (is_unix(choice.address()) && others == 0 && !choice.queue().empty())
        return false;
    started = choice.start();
    return started || others != 0 || !is_full(choice.address(), started.error());
}

/// start_in_turn waits until the connection may have such a socket. Where a connection stops
/// waiting for a server, and tries another one, the error says nothing about the server. The error
/// may be the interrupt's.
net::task<result<net::socket>> start_in_turn(upstream_choice& choice, connect_time& time);

/// goes_on: an attempt has failed with `why`. True: another one may follow. False where the client
/// has left a server's line: then that is the reason (see upstream_choice). Where the interrupt is
/// raised, `why` becomes its reason, and the result is false, except where only the time of this
/// address is over and there are other addresses.
[[nodiscard]] bool goes_on(net::interrupt& interrupt, upstream_choice& choice, error_code& why);

} // namespace cleat::app
