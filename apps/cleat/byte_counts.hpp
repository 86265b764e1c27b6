// byte_counts: how many plaintext bytes a connection has moved.

#pragma once

#include <cstdint>

namespace cleat::app {

/// byte_counts counts plaintext bytes.
struct byte_counts
{
    std::uint64_t up = 0;   ///< From the client to the upstream.
    std::uint64_t down = 0; ///< From the upstream to the client.
};

} // namespace cleat::app
