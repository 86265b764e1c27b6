#include "connection/client_closing.hpp"

#include <cleat/net/scratch.hpp>

#include <cstddef>
#include <span>

namespace cleat::app {
namespace {

// Waits for the socket to take the alert. False: it cannot be sent.
net::task<bool> send_alert(net::interrupt& interrupt, client_side& client, net::progress sent)
{
    while (!sent.error && client.channel.unsent()) {
        net::interest const writable{&client.socket.entry(), false, true};
        error_code const interrupted = co_await net::ready{interrupt, writable};
        if (interrupted)
            co_return false;
        sent = client.channel.flush(client.socket.entry());
    }
    co_return !sent.error;
}

// Sends the rest of the alert, and reads until the client ends.
net::task<> end_client(net::interrupt& interrupt, client_side& client, net::progress alert)
{
    bool const sent = co_await send_alert(interrupt, client, alert);
    if (!sent)
        co_return;
    client.socket.shutdown_send();
    for (;;) {
        std::span<std::byte> const room = net::scratch::of_this_thread().plaintext();
        net::io_result const received = client.socket.receive(room);
        if (received.error)
            co_return;
        if (received.bytes == room.size())
            client.socket.entry().more_to_read();
        net::interest const readable{&client.socket.entry(), true, false};
        error_code const interrupted = co_await net::ready{interrupt, readable};
        if (interrupted)
            co_return;
    }
}

} // namespace

net::task<> refuse_client(
    net::interrupt& interrupt, client_side& client, tls::fatal_alert alert,
    std::chrono::milliseconds patience)
{
    interrupt.expires_in(patience, error::idle_timeout);
    return end_client(interrupt, client, client.channel.fail(client.socket.entry(), alert));
}

net::task<> dismiss_client(
    net::interrupt& interrupt, client_side& client, std::chrono::milliseconds patience)
{
    interrupt.expires_in(patience, error::idle_timeout);
    return end_client(interrupt, client, client.channel.close(client.socket.entry()));
}

} // namespace cleat::app
