// client_handshake: cleat's handshake with a server of an upstream.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <string_view>

namespace cleat::app {

/// shake_hands sends the clear bytes, and then makes the handshake. The socket may still be
/// connecting: its first send then finds it full, or broken. The arguments outlive the task.
net::task<error_code> shake_hands(
    net::interrupt& interrupt, net::socket& socket, net::channel& channel,
    net::channel::last_flight departure, std::string_view clear = {});

} // namespace cleat::app
