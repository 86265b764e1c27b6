// key_type: the kinds of keys that a certificate can have.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cleat::tls {

/// key_type distinguishes keys by what a client must be able to verify (RFC 8446, section 4.2.3).
/// They are in a server's order of preference. ML-DSA first, where an operator has such a
/// certificate at all: every client that verifies it can do something older, too. Then ECDSA, P-256
/// before the slower curves: nearly all clients verify it. RSA last: it is slow, and every client
/// can use it.
enum class key_type : std::uint8_t
{
    ml_dsa_65,
    ml_dsa_44,
    ml_dsa_87,
    ecdsa_p256,
    ecdsa_p384,
    ecdsa_p521,
    ed25519,
    rsa,
};
inline constexpr std::size_t key_type_count = 8;

/// is_ml_dsa: such a key signs in TLS 1.3 only (draft-ietf-tls-mldsa).
[[nodiscard]] constexpr bool is_ml_dsa(key_type type) noexcept
{
    return type == key_type::ml_dsa_65 || type == key_type::ml_dsa_44 ||
           type == key_type::ml_dsa_87;
}

} // namespace cleat::tls
