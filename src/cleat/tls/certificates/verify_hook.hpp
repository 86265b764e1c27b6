// verify_hook: how a context's verify_function is called by the TLS library. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/engine.hpp>

#include <openssl/ssl.h>

namespace cleat::tls {

/// refused_certificate holds the identity of the peer's own certificate, where the verification of
/// its chain fails on this thread while this object lives: after a failed handshake OpenSSL has
/// the certificate no more. There is one at a time on a thread.
class refused_certificate
{
public:
    refused_certificate() noexcept;
    refused_certificate(refused_certificate&&) = delete;
    ~refused_certificate();

    /// describe says in `failure` which certificate was refused, and why, where its verification
    /// has failed. Without memory a text is missing. Once.
    void describe(SSL* ssl, failure_info& failure) noexcept;

    /// note is called with the outcome of a verify callback, and returns it.
    static int note(int accepted, X509_STORE_CTX* store_ctx) noexcept;

private:
    certificate_identity identity_;
};

/// cleat_note_refused is the callback for SSL_CTX_set_verify that changes no outcome.
extern "C" int cleat_note_refused(int preverified, X509_STORE_CTX* store_ctx);

/// cleat_verify_hook is the callback for SSL_CTX_set_verify that calls the verify_function. Without
/// one it refuses.
extern "C" int cleat_verify_hook(int preverified, X509_STORE_CTX* store_ctx);

/// attach_verify_function makes connections of ctx call the function, which must outlive ctx. False
/// when memory is short.
[[nodiscard]] bool attach_verify_function(SSL_CTX* ctx, verify_function const* function) noexcept;

} // namespace cleat::tls
