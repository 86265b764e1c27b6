// client_schemes: the signature schemes that a server's CertificateRequest offers its clients. Not
// a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context_spec.hpp>

namespace cleat::tls {

/// client_schemes are those of context_spec::verify_schemes, or else all that are sound and that
/// the library verifies, for each version of TLS. The scratch context is a server's. Throws
/// spec_error for an unknown name, and where one of the spec's versions is left without a scheme.
[[nodiscard]] backend::version_schemes client_schemes(SSL_CTX* scratch, context_spec const& spec);

} // namespace cleat::tls
