// key_type: the kinds of keys that a certificate can have.

#pragma once

#include <cstdint>

namespace cleat::tls {

/// key_type distinguishes keys by what a client must be able to verify (RFC 8446, section 4.2.3).
enum class key_type : std::uint8_t
{
    rsa,
    ecdsa_p256,
    ecdsa_p384,
    ecdsa_p521,
    ed25519
};

} // namespace cleat::tls
