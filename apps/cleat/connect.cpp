// A connection to this machine, and to a neighbour that is quick, is there by the time connect
// returns, though it says EINPROGRESS. So the first bytes are sent at once: when that works it
// saves a trip through the event loop, and when it would block, it has cost one system call.

#include "connect.hpp"

#include <cleat/core/limits.hpp>

#include <cerrno>

#include <sys/socket.h>

namespace cleat::app {
namespace {

// A socket on its way to the address; an error where the kernel knows at once that it cannot be.
result<unique_fd> begin(net::address const& to) noexcept
{
    unique_fd fd{::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    if (::connect(fd.get(), to.data(), to.size) != 0 && errno != EINPROGRESS)
        return last_system_error();
    return fd;
}

// A UNIX socket whose backlog is full refuses at once, where TCP would try again by itself.
bool is_busy(net::address const& to, error_code why) noexcept
{
    return to.data()->sa_family == AF_UNIX &&
           why == boost::system::errc::resource_unavailable_try_again;
}

// begin_when_free tries until there is room, or `by` says that it has been long enough.
net::task<result<unique_fd>> begin_when_free(net::interrupt& by, net::address const& to)
{
    for (;;) {
        result<unique_fd> begun = begin(to);
        if (begun || !is_busy(to, begun.error()))
            co_return begun;
        net::interrupt soon{by.on()};
        soon.expires_in(limits::backlog_pause, error::connect_timeout);
        static_cast<void>(co_await net::pause(soon));
        if (by.raised())
            co_return by.raised();
    }
}

} // namespace

net::task<result<upstream>> connect(
    net::interrupt& by, std::vector<net::address> const& addresses,
    std::span<std::byte const> first)
{
    byte_queue kept;
    error_code why = make_error_code(boost::system::errc::address_not_available);
    for (net::address const& address : addresses) {
        result<unique_fd> begun = co_await begin_when_free(by, address);
        if (by.raised())
            co_return by.raised();
        if (!begun) {
            why = begun.error();
            continue;
        }
        upstream to{net::socket{by.on(), std::move(*begun)}, {}};
        std::span<std::byte const> const all = kept.empty() ? first : kept.front();
        net::io_result sent = to.socket.send(all);
        if (sent.would_block) {
            if (kept.empty() && !kept.append(first, limits::unsent_max))
                co_return make_error_code(boost::system::errc::not_enough_memory);
            first = {}; // Whoever waits keeps a copy.
            net::interest const writable{&to.socket.entry(), false, true};
            error_code const interrupted = co_await net::ready{by, writable};
            if (interrupted)
                co_return interrupted;
            why = to.socket.error();
            if (why)
                continue;
            to.unsent = std::move(kept);
            co_return std::move(to);
        }
        why = sent.error;
        if (why)
            continue;
        to.sends = all.empty() ? 0 : 1;
        std::span<std::byte const> const rest = all.subspan(sent.bytes);
        if (!rest.empty() && !to.unsent.append(rest, limits::unsent_max))
            co_return make_error_code(boost::system::errc::not_enough_memory);
        co_return std::move(to);
    }
    co_return why;
}

} // namespace cleat::app
