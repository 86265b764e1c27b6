// openssl_error: the library's thread-local error queue. The only place that calls ERR_*. Not a
// public header.

#pragma once

#include <openssl/err.h>

#include <cstdint>
#include <string>

namespace cleat::tls {

/// library_failure is what the TLS layer concluded: its oldest entry in the queue, or the oldest of
/// all where it has none. What lies below (a number that is on no curve) says less than what it led
/// to.
struct library_failure
{
    std::uint32_t code = 0;     ///< Packed as the library packs it; 0: the queue was empty.
    std::string reason;         ///< The library's words for it, without file names.
    bool out_of_memory = false; ///< Whatever was concluded from it.
};

/// clear_errors empties this thread's queue.
void clear_errors() noexcept;

/// drain_errors takes that entry and empties this thread's queue.
[[nodiscard]] library_failure drain_errors() noexcept;

} // namespace cleat::tls
