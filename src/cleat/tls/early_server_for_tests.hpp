// early_server: a server that accepts early data (RFC 8446, section 2.3), for tests of clients.
// cleat's own servers never accept it.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <cstddef>
#include <vector>

namespace cleat::tls {

/// allow_early_data makes this server issue tickets for early data, and accept early data up to the
/// number of bytes returned. With `allowed` false, new tickets are not for early data, and the
/// early data of older ones is rejected.
std::size_t allow_early_data(context const& server, bool allowed);

/// early_data_server is the early data that a server has received during its handshake.
struct early_data_server
{
    std::vector<std::byte> received;
    bool finished = false; ///< No more early data comes.

    /// handshake continues the server's handshake. want::nothing: it is done, and engine::read
    /// returns what the client sends after it.
    step handshake(engine& server, wire& w);
};

} // namespace cleat::tls
