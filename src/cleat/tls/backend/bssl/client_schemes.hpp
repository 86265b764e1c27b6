// client_schemes: the parts of the CertificateRequest's schemes that files of the family share.

#pragma once

#include <cleat/tls/backend.hpp>

namespace cleat::tls::bssl {

/// set_schemes makes this connection ask for the schemes of its version. False without memory.
[[nodiscard]] bool set_schemes(SSL* ssl, backend::version_schemes const& schemes) noexcept;

/// on_server_name makes the SNI callback of ctx call set_schemes for clients that are verified. The
/// schemes must outlive ctx.
void on_server_name(SSL_CTX* ctx, backend::version_schemes const* schemes) noexcept;

} // namespace cleat::tls::bssl
