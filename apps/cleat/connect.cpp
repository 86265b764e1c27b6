// A connection to this machine, or to a machine nearby, is often established by the time connect()
// returns EINPROGRESS. So the first bytes are sent at once. If the socket takes them, that saves a
// pass of the event loop; if not, it has cost one system call.

#include "connect.hpp"
#include "connect_steps.hpp"

#include <cleat/core/limits.hpp>

#include <cstdint>
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

} // namespace

net::task<result<unique_fd>> start_from_queue(
    net::interrupt& interrupt, upstream_choice& choice, net::address const& address)
{
    connect_queue::place place{choice.queue(), interrupt};
    for (;;) {
        if (error_code const ec = co_await place.reached())
            co_return ec;
        result<unique_fd> started = choice.start();
        if (started || !is_full(address, started.error()))
            co_return started;
    }
}

net::task<error_code> wait_in_line(
    net::interrupt& interrupt, upstream_choice& choice, std::chrono::milliseconds timeout,
    net::worker::clock::time_point& until)
{
    limit_wait(interrupt, until, timeout, 1);
    connect_queue::place place{choice.line(), interrupt};
    for (;;) {
        error_code const ec = co_await place.reached();
        if (ec)
            co_return ec;
        if (choice.leaves_line()) {
            choice.pass_over();
            co_return error_code{};
        }
        if (choice.admit()) {
            until = interrupt.worker().now() + timeout;
            co_return error_code{};
        }
    }
}

void limit_wait(
    net::interrupt& interrupt, net::worker::clock::time_point until,
    std::chrono::milliseconds timeout, std::size_t parts)
{
    if (timeout.count() != 0)
        interrupt.expires_in(
            part_of(until - interrupt.worker().now(), parts), error::connect_timeout);
}

bool goes_on(net::interrupt& interrupt, upstream_choice& choice, error_code& why)
{
    if (interrupt.raised() != error::connect_timeout)
        return false;
    why = interrupt.raised();
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
    error_code why;
    net::worker::clock::time_point until = interrupt.worker().now() + timeout;
    while (net::address const* const address = next_address(choice, why)) {
        if (choice.waits()) {
            if (!hello.keep())
                co_return make_error_code(boost::system::errc::not_enough_memory);
            error_code const failed = co_await wait_in_line(interrupt, choice, timeout, until);
            if (failed)
                co_return failed;
            if (choice.waits())
                continue;
        }
        std::size_t const others = choice.others();
        limit_wait(interrupt, until, timeout, others + 1);
        result<unique_fd> started;
        if (!start_at_once(choice, *address, others, started)) {
            if (!hello.keep())
                co_return make_error_code(boost::system::errc::not_enough_memory);
            started = co_await start_from_queue(interrupt, choice, *address);
        }
        if (interrupt.raised() && !goes_on(interrupt, choice, why))
            co_return interrupt.raised();
        if (!started) {
            why = started.error();
            continue;
        }
        upstream_side upstream{net::socket{interrupt.worker(), std::move(*started)}, {}};
        // To send nothing to a UNIX socket fails where the server has spoken and closed.
        bool const asks = !is_unix(*address) || !hello.bytes().empty();
        net::io_result const sent = asks ? upstream.socket.send(hello.bytes()) : net::io_result{};
        if (sent.would_block) {
            if (!hello.keep())
                co_return make_error_code(boost::system::errc::not_enough_memory);
            net::interest const writable{&upstream.socket.entry(), false, true};
            error_code const interrupted = co_await net::ready{interrupt, writable};
            if (interrupted && !goes_on(interrupt, choice, why))
                co_return interrupted;
            if (why = interrupted ? why : upstream.socket.error(); why)
                continue;
            upstream.unsent = std::move(hello).kept();
            choice.answered();
            co_return std::move(upstream);
        }
        if (why = sent.error; why)
            continue;
        choice.answered();
        upstream.sends = hello.bytes().empty() ? 0 : 1;
        std::span<std::byte const> const rest = hello.bytes().subspan(sent.bytes);
        if (!rest.empty() && !upstream.unsent.append(rest, limits::unsent_max)) {
            upstream.socket.reset(); // An RST: the upstream must not take a part for the whole.
            co_return make_error_code(boost::system::errc::not_enough_memory);
        }
        co_return std::move(upstream);
    }
    co_return why ? why : make_error_code(boost::system::errc::address_not_available);
}

} // namespace cleat::app
