// connect_steps: what connect and connect_with_tls have in common.

#pragma once

#include "connect_queue.hpp"
#include "upstream/upstream_choice.hpp"

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

    /// renew: the whole time begins again.
    void renew() noexcept { until_ = interrupt_.worker().now() + whole_; }

    /// part is an equal part of the time that is left, and at least a millisecond; zero where there
    /// is no limit.
    [[nodiscard]] std::chrono::milliseconds part(std::size_t parts) const noexcept;

    /// limit gives the next attempt its part: the interrupt is then raised.
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

/// start_at_once makes a socket that is connecting to the choice's address, and gives it its part
/// of the time. It is false where the connection must call start_in_turn instead: the choice
/// lacks_port; or the server has as many connections as it may have; or it has no other address to
/// try, and the server's backlog is full, or earlier connections wait for that already.
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

/// start_in_turn waits until the connection may have such a socket, and it is its turn. A
/// connection that leaves the line of a server has an error that says nothing about the server, and
/// goes on with another one. The error may be the interrupt's.
net::task<result<net::socket>> start_in_turn(upstream_choice& choice, connect_time& time);

/// goes_on: an attempt has failed with `why`. True: another one may follow. It is false where the
/// interrupt is raised, unless only this address's time is over, and there are others; `why` is
/// then the interrupt's reason.
[[nodiscard]] bool goes_on(net::interrupt& interrupt, upstream_choice& choice, error_code& why);

} // namespace cleat::app
