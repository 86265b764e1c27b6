// capabilities: what the linked TLS library can do, found at run time.

#pragma once

namespace cleat::tls {

/// capabilities lists what differs between TLS libraries. A setting whose capability is missing is
/// an error at start-up; `cleat --version` prints the list.
struct capabilities
{
    bool post_quantum_group = false; ///< X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem).
    bool library_contexts = false;   ///< Workers have library contexts of their own (OSSL_LIB_CTX).
    bool frees_handshake = false;    ///< The handshake's memory is freed at its end.
    bool certificate_compression = false; ///< RFC 8879, with zlib or brotli or both.
};

/// library_capabilities is constant for a process.
[[nodiscard]] capabilities library_capabilities() noexcept;

} // namespace cleat::tls
