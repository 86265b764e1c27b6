// early_server: the other side of a client's early data (RFC 8446, section 2.3), for tests: an
// engine that takes it, which cleat's own servers never do.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <cstddef>
#include <vector>

namespace cleat::tls {

/// allow_early_data makes tickets of this server say that it takes early data, and makes it take
/// some, up to the number of bytes returned. Not allowed: tickets say nothing, and what those of
/// before bring is rejected.
std::size_t allow_early_data(context const& server, bool allowed);

/// early_listener is what a server has heard before its handshake was done.
struct early_listener
{
    std::vector<std::byte> heard;
    bool over = false; ///< No more early data comes.

    /// handshake goes on with the handshake, as `drive` calls it. want::nothing: it is done, and
    /// engine::read gives what the client said after it.
    step handshake(engine& server, wire& w);
};

} // namespace cleat::tls
