// certificate_use: puts a certificate, with its chain and key, where the TLS library takes it from.
// Not a public header.

#pragma once

#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/handles.hpp>

#include <string>

namespace cleat::tls {

/// use_certificate makes all connections of ctx serve it. Throws spec_error where the TLS library
/// refuses it.
void use_certificate(SSL_CTX* ctx, certificate const& identity);

/// use_certificate makes one connection serve it, whose SSL_CTX has no certificate: the libraries
/// have a place for each kind of key, and would serve the others. False: the error queue has the
/// reason.
[[nodiscard]] bool use_certificate(SSL* ssl, certificate const& identity) noexcept;

/// set_origin notes where the certificate of ctx comes from. The text outlives ctx. origin_of is
/// that text, or null.
void set_origin(SSL_CTX* ctx, std::string const& origin);
[[nodiscard]] std::string const* origin_of(SSL_CTX const* ctx) noexcept;

} // namespace cleat::tls
