// compression: what the OpenSSL backend does about compressed certificates (RFC 8879) beside
// backend.hpp.

#pragma once

#include <cleat/tls/handles.hpp>

namespace cleat::tls::backend {

/// add_compressed_certificate compresses the certificate that the connection has now, if its
/// client can decompress it and its SSL_CTX was given to compress_certificates. It is called in
/// the ClientHello's callback. False: the handshake must fail.
[[nodiscard]] bool add_compressed_certificate(SSL* ssl) noexcept;

/// take_no_compressed_certificates: peers do not learn that the library can decompress, which no
/// setting of cleat asks for.
void take_no_compressed_certificates(SSL_CTX* ctx) noexcept;

} // namespace cleat::tls::backend
