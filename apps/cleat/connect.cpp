// A connection to this machine, and to a neighbour that is quick, is there by the time connect
// returns, though it says EINPROGRESS. So the first bytes are sent at once: when that works it
// saves a trip through the event loop, and when it would block, it has cost one system call.

#include "connect.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

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

bool is_unix(net::address const& a) noexcept
{
    return a.data()->sa_family == AF_UNIX;
}

// A UNIX socket whose backlog is full refuses at once, where TCP would try again by itself.
bool is_full(net::address const& to, error_code why) noexcept
{
    return is_unix(to) && why == boost::system::errc::resource_unavailable_try_again;
}

// begin_in_line tries when it is this connection's turn, until there is room, or `by` says that it
// has been long enough.
net::task<result<unique_fd>> begin_in_line(
    net::interrupt& by, connect_queue& line, net::address const& to)
{
    connect_queue::place here{line, by};
    for (;;) {
        if (error_code const ec = co_await here.reached())
            co_return ec;
        result<unique_fd> begun = begin(to);
        if (begun || !is_full(to, begun.error()))
            co_return begun;
    }
}

// One of so many parts of what is left of a time, and some time in any case.
std::chrono::milliseconds part_of(net::worker::clock::duration left, std::size_t parts)
{
    using std::chrono::milliseconds;
    return std::max(
        std::chrono::duration_cast<milliseconds>(left / static_cast<int>(parts)), milliseconds{1});
}

// goes_on: only this address's time is over, and there are others. `why` is then what it failed
// with.
bool goes_on(net::interrupt& by, std::size_t others, error_code& why)
{
    if (others == 0 || by.raised() != error::connect_timeout)
        return false;
    why = by.raised();
    by.clear();
    return true;
}

// greeting is what the upstream hears first. It lies in a block that others use too, so it is
// copied before the first wait, and only then.
class greeting
{
public:
    explicit greeting(std::span<std::byte const> bytes) noexcept : borrowed_{bytes} {}

    [[nodiscard]] std::span<std::byte const> bytes() const noexcept
    {
        return borrowed_.empty() ? kept_.front() : borrowed_;
    }

    // keep is false when memory is short.
    [[nodiscard]] bool keep()
    {
        return kept_.append(std::exchange(borrowed_, {}), limits::unsent_max);
    }

    // kept gives the copy away.
    [[nodiscard]] byte_queue kept() && noexcept { return std::move(kept_); }

private:
    std::span<std::byte const> borrowed_;
    byte_queue kept_;
};

} // namespace

net::task<result<upstream_side>> connect(
    net::interrupt& by, connect_queue& line, std::vector<net::address> const& addresses,
    std::span<std::byte const> first, std::chrono::milliseconds within)
{
    greeting hello{first};
    error_code why = make_error_code(boost::system::errc::address_not_available);
    net::worker::clock::time_point const until = by.worker().now() + within;
    for (std::size_t i = 0; i != addresses.size(); ++i) {
        net::address const& address = addresses[i];
        std::size_t const others = addresses.size() - i - 1;
        if (within.count() != 0)
            by.expires_in(part_of(until - by.worker().now(), others + 1), error::connect_timeout);
        // Who waits already was here before us, and is not to be overtaken.
        bool const waited_for = is_unix(address) && !line.empty();
        result<unique_fd> begun = waited_for ? result<unique_fd>{} : begin(address);
        if (waited_for || (!begun && is_full(address, begun.error()))) {
            if (!hello.keep())
                co_return make_error_code(boost::system::errc::not_enough_memory);
            begun = co_await begin_in_line(by, line, address);
        }
        if (by.raised() && !goes_on(by, others, why))
            co_return by.raised();
        if (!begun) {
            why = begun.error();
            continue;
        }
        upstream_side to{net::socket{by.worker(), std::move(*begun)}, {}};
        net::io_result const sent = to.socket.send(hello.bytes());
        if (sent.would_block) {
            if (!hello.keep())
                co_return make_error_code(boost::system::errc::not_enough_memory);
            net::interest const writable{&to.socket.entry(), false, true};
            error_code const interrupted = co_await net::ready{by, writable};
            if (interrupted && !goes_on(by, others, why))
                co_return interrupted;
            why = interrupted ? why : to.socket.error();
            if (why)
                continue;
            to.unsent = std::move(hello).kept();
            co_return std::move(to);
        }
        why = sent.error;
        if (why)
            continue;
        to.sends = hello.bytes().empty() ? 0 : 1;
        std::span<std::byte const> const rest = hello.bytes().subspan(sent.bytes);
        if (!rest.empty() && !to.unsent.append(rest, limits::unsent_max)) {
            to.socket.reset(); // It has got a part, and is not to take that for all.
            co_return make_error_code(boost::system::errc::not_enough_memory);
        }
        co_return std::move(to);
    }
    co_return why;
}

} // namespace cleat::app
