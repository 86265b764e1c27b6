// connect_steps: what connect and connect_with_tls have in common.

#pragma once

#include "connect_queue.hpp"
#include "upstream/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <sys/socket.h>

namespace cleat::app {

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

/// start_at_once makes a socket that is connecting, and is false where the connection is to do
/// start_from_queue instead: it has no other address to try, and the server's backlog is full, or
/// others wait for that already, who came earlier and go first.
[[nodiscard]] inline bool start_at_once(
    upstream_choice& choice, net::address const& address, std::size_t others,
    result<unique_fd>& started)
{
    if (is_unix(address) && others == 0 && !choice.queue().empty())
        return false;
    started = choice.start();
    return started || others != 0 || !is_full(address, started.error());
}

/// start_from_queue tries whenever this connection is the first of the queue, until there is room
/// or the interrupt is raised.
net::task<result<unique_fd>> start_from_queue(
    net::interrupt& interrupt, upstream_choice& choice, net::address const& address);

/// part_of is an equal part of the time that is left, and at least a millisecond.
[[nodiscard]] inline std::chrono::milliseconds part_of(
    net::worker::clock::duration left, std::size_t parts)
{
    using std::chrono::milliseconds;
    return std::max(
        std::chrono::duration_cast<milliseconds>(left / static_cast<int>(parts)), milliseconds{1});
}

/// limit_wait gives one address, of so many, its part of the time.
void limit_wait(
    net::interrupt& interrupt, net::worker::clock::time_point until,
    std::chrono::milliseconds timeout, std::size_t parts);

/// wait_in_line waits until the server has room, and gives the connect the whole time again, in
/// `until`; or until the choice leaves_line: it still waits then, and goes on with another server.
/// An error: the interrupt is raised.
net::task<error_code> wait_in_line(
    net::interrupt& interrupt, upstream_choice& choice, std::chrono::milliseconds timeout,
    net::worker::clock::time_point& until);

/// goes_on: only this address's time is over, and there are others. `why` is then its error.
[[nodiscard]] bool goes_on(net::interrupt& interrupt, upstream_choice& choice, error_code& why);

/// next_address is the first address, or the one after the address that has failed.
[[nodiscard]] inline net::address const* next_address(upstream_choice& choice, error_code failed)
{
    if (failed)
        choice.failed(failed);
    return choice.next();
}

} // namespace cleat::app
