// signing: the signature scheme of a server's handshake, which AWS-LC forgets. Not a public header.

#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::tls::awslc {

/// scheme_of is the number of the scheme (RFC 8446, section 4.2.3) in a whole handshake message of
/// a server's, a CertificateVerify or the ServerKeyExchange of TLS 1.2; 0 where there is none.
[[nodiscard]] std::uint16_t scheme_of(std::span<std::uint8_t const> message) noexcept;

/// watch_signing makes connections of a server's ctx give backend::do_handshake their scheme. It
/// uses SSL_CTX_set_msg_callback: a later call of that, or of SSL_set_msg_callback, removes it.
void watch_signing(SSL_CTX* ctx) noexcept;

} // namespace cleat::tls::awslc
