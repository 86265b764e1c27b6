// verify_hook: how a context's verify_function is called by the TLS library. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <openssl/ssl.h>

namespace cleat::tls {

/// cleat_verify_hook is the callback for SSL_CTX_set_verify that calls the verify_function. Without
/// one it refuses.
extern "C" int cleat_verify_hook(int preverified, X509_STORE_CTX* store_ctx);

/// attach_verify_function makes connections of ctx call the function, which must outlive ctx. False
/// when memory is short.
[[nodiscard]] bool attach_verify_function(SSL_CTX* ctx, verify_function const* function) noexcept;

} // namespace cleat::tls
