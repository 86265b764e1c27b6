// preconnect_rule: how many connections to a server are made before clients need them.

#pragma once

#include <chrono>
#include <cstddef>

namespace cleat::app {

/// preconnect_rule is of one upstream, and of each of its servers.
struct preconnect_rule
{
    std::size_t connections = 0;            ///< Of each worker. 0: none.
    std::chrono::milliseconds time{10'000}; ///< Then an idle one is replaced.
    bool is_tcp_only = false; ///< The bytes before or in the ClientHello depend on the client.
};

} // namespace cleat::app
