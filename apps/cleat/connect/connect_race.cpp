#include "connect/connect_race.hpp"
#include "upstream/connecting.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cleat::app {
namespace {

// The rest of the race, without the delay. One socket that has failed is not waited for.
net::task<error_code> run_both(
    net::interrupt& interrupt, upstream_choice& choice, net::socket& socket, net::socket rival)
{
    net::interest first = until_connected(socket);
    net::interest second = until_connected(rival);
    error_code failed;
    while (first.write || second.write) {
        error_code const interrupted = co_await net::ready{interrupt, first, second};
        if (interrupted) {
            choice.take_rival();
            co_return interrupted;
        }
        if (first.write && socket.entry().writable()) {
            failed = socket.error();
            if (!failed)
                co_return failed;
            first = {};
        }
        if (second.write && rival.entry().writable()) {
            failed = rival.error();
            if (!failed) {
                socket = std::move(rival);
                choice.take_rival();
                co_return failed;
            }
            second = {};
        }
    }
    choice.take_rival();
    co_return failed;
}

} // namespace

net::task<error_code> race(upstream_choice& choice, connect_time const& time, net::socket& socket)
{
    using std::chrono::milliseconds;
    net::interrupt& interrupt = time.interrupt();
    milliseconds const whole = 2 * time.part(choice.others() + 1); // Zero: there is no limit.
    milliseconds const delay =
        whole.count() == 0 ? limits::attempt_delay : std::min(limits::attempt_delay, whole / 2);
    interrupt.expires_in(delay, error::connect_timeout);
    error_code const early = co_await net::ready{interrupt, until_connected(socket)};
    if (early != error::connect_timeout) {
        interrupt.clear();
        co_return early ? early : socket.error();
    }
    interrupt.expires_in(
        whole.count() == 0 ? whole : std::max(whole - delay, milliseconds{1}),
        error::connect_timeout);
    result<net::socket> started = choice.start_rival();
    if (started)
        co_return co_await run_both(interrupt, choice, socket, std::move(*started));
    choice.failed(started.error());
    choice.take_rival();
    error_code const late = co_await net::ready{interrupt, until_connected(socket)};
    co_return late ? late : socket.error();
}

} // namespace cleat::app
