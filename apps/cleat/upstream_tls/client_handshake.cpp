#include "upstream_tls/client_handshake.hpp"

#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <span>

namespace cleat::app {
namespace {

// Sends the bytes that come before TLS.
net::task<error_code> send_clear(
    net::interrupt& interrupt, net::socket& socket, std::string_view clear)
{
    std::span<std::byte const> left = std::as_bytes(std::span{clear});
    while (!left.empty()) {
        net::io_result const sent = socket.send(left);
        if (sent.error)
            co_return sent.error;
        left = left.subspan(sent.bytes);
        if (left.empty())
            break;
        net::interest const writable{&socket.entry(), false, true};
        error_code const interrupted = co_await net::ready{interrupt, writable};
        if (interrupted)
            co_return interrupted;
    }
    co_return error_code{};
}

} // namespace

net::task<error_code> shake_hands(
    net::interrupt& interrupt, net::socket& socket, net::channel& channel,
    net::channel::last_flight departure, std::string_view clear)
{
    net::set_no_delay(socket.native_handle());
    if (!clear.empty()) {
        error_code const failed = co_await send_clear(interrupt, socket, clear);
        if (failed)
            co_return failed;
    }
    for (;;) {
        net::readiness::entry& entry = socket.entry();
        net::progress const p = channel.handshake(entry, entry.ended(), departure);
        if (p.error || p.next == net::wait::none)
            co_return p.error;
        net::interest const interest{
            &entry, p.next == net::wait::readable, p.next == net::wait::writable};
        error_code const interrupted = co_await net::ready{interrupt, interest};
        if (interrupted)
            co_return interrupted;
    }
}

} // namespace cleat::app
