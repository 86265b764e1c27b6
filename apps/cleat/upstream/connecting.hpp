// until_connected: the wait for a connect.

#pragma once

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>

namespace cleat::app {

/// until_connected is the interest of a wait for a socket that is connecting.
[[nodiscard]] inline net::interest until_connected(net::socket const& socket) noexcept
{
    return {&socket.entry(), false, true};
}

} // namespace cleat::app
