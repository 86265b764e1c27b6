// openssl_error: the library's thread-local error queue. The only place that calls ERR_*. Not a
// public header.

#pragma once

#include <openssl/err.h>

#include <cstdint>
#include <string>

namespace cleat::tls {

/// library_failure is the oldest entry of the TLS layer in the queue, or the oldest of all where
/// that layer has none. Errors of lower layers, such as EC's 'point is not on curve', say less than
/// the TLS error that they cause.
struct library_failure
{
    std::uint32_t code = 0;     ///< Packed as the library packs it; 0: the queue was empty.
    std::string reason;         ///< The library's text for it, without file names.
    bool out_of_memory = false; ///< Any entry of the queue says so.
};

/// clear_errors empties this thread's queue.
void clear_errors() noexcept;

/// drain_errors returns the failure in this thread's queue, and empties the queue.
[[nodiscard]] library_failure drain_errors() noexcept;

} // namespace cleat::tls
