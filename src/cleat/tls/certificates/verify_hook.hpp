// verify_hook: how a context's verify_function is called by the TLS library. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <openssl/ssl.h>

namespace cleat::tls {

/// cleat_verify_hook is what SSL_CTX_set_verify takes where there is a verify_function. Without one
/// it refuses.
extern "C" int cleat_verify_hook(int preverified, X509_STORE_CTX* at);

/// attach_verify_function makes connections of ctx ask `decide`, which must outlive it. False when
/// the library is out of memory.
[[nodiscard]] bool attach_verify_function(SSL_CTX* ctx, verify_function const* decide) noexcept;

} // namespace cleat::tls
