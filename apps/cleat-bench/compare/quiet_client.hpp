// quiet_client: a TLS connection that is opened, held and dropped, without an event loop.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cleat::bench {

/// quiet_client has shaken hands and sends nothing. It does not read what the server sends.
struct quiet_client
{
    unique_fd fd;
    std::unique_ptr<net::channel> channel;
};

/// connection_attempt is a connection, or why there is none.
struct connection_attempt
{
    quiet_client client;
    std::string failure; ///< Empty: it succeeded.
};

/// shake_hands connects and shakes hands, waiting at most `patience` in all.
[[nodiscard]] connection_attempt shake_hands(
    net::address const& address, tls::context const& context, std::chrono::milliseconds patience);

} // namespace cleat::bench
