// chain: the order of a server's certificates.

#pragma once

#include <cleat/tls/peer_facts.hpp>

#include <span>

namespace cleat::bench {

/// in_order: each certificate but the last is followed by the one of its issuer (RFC 5246, section
/// 7.4.2). RFC 8446 lets clients put chains in order, and many do not.
[[nodiscard]] bool in_order(std::span<tls::shown_certificate const> chain) noexcept;

} // namespace cleat::bench
