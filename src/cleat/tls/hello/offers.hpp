// offers: the parts of a ClientHello in which client and server had nothing in common, as text for
// a log line. Not a public header.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/engine.hpp>

#include <cstddef>
#include <span>

namespace cleat::tls {

/// offers_in describes what the ClientHello at the beginning of a client's records offers, where
/// `why` is no_shared_version, no_shared_cipher or no_shared_group. Lists are in the client's order
/// and without GREASE (RFC 8701); the first limits::logged_offers_max of each are named. Empty for
/// other errors, and where the records have no whole ClientHello. Throws std::bad_alloc.
[[nodiscard]] client_offers offers_in(
    std::span<std::byte const> records, error_code why, ssl_st* ssl);

} // namespace cleat::tls
