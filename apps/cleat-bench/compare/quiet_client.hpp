// quiet_client: a TLS connection that is made, held and dropped, without an event loop.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cleat::bench {

/// quiet_client has shaken hands and says nothing. What the server says stays unread.
struct quiet_client
{
    unique_fd fd;
    std::unique_ptr<net::channel> channel;
};

/// attempted is a connection, or why there is none, in words.
struct attempted
{
    quiet_client client;
    std::string failure; ///< Empty: there is one.
};

/// shake_hands connects and shakes hands, waiting at most `patience` in all.
[[nodiscard]] attempted shake_hands(
    net::address const& with, tls::context const& use, std::chrono::milliseconds patience);

} // namespace cleat::bench
