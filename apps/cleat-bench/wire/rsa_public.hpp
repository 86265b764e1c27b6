// rsa_public: an RSA key out of a certificate, and encryption with it, for messages whose padding
// is wrong on purpose. cleat::tls does not offer that, and programs include no TLS library.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench::wire {

/// rsa_public_key has its numbers big-endian, without leading zeros.
struct rsa_public_key
{
    std::string modulus;
    std::uint32_t exponent = 0;
};

/// rsa_key_of a certificate in DER (RFC 5280, section 4.1); unset for other keys, for more than
/// 8,192 bits, and for bytes that are no certificate.
[[nodiscard]] std::optional<rsa_public_key> rsa_key_of(std::string_view certificate);

/// raw_rsa is `block` to the power of the exponent (RFC 8017, section 5.1.1), as long as the
/// modulus. The block is as long as the modulus, and smaller. Not in constant time: nothing here is
/// secret.
[[nodiscard]] std::string raw_rsa(rsa_public_key const& key, std::string_view block);

} // namespace cleat::bench::wire
