// verification: what one connection asks of its peer's certificate beside its context's spec.
//
// Each function is for a connection whose handshake has not begun, on the thread that uses it. A
// server's connection that was changed resumes no session: one that was made under other rules
// must not pass for one made under these.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <string>

struct ssl_st;
struct x509_store_ctx_st;

namespace cleat::tls {

/// set_verification says what is asked, in place of context_spec::verify. `optional` means
/// `required` for a client. The authorities are the context's; where it has none, no certificate
/// verifies.
void set_verification(ssl_st* ssl, peer_verification how) noexcept;

/// set_verify_function makes `decide` judge in place of context_spec::verify_function. Where
/// nothing is verified yet it turns that on, `optional`: otherwise nobody would heed what it says.
/// Throws std::bad_alloc.
void set_verify_function(ssl_st* ssl, verify_function decide);

/// set_verify_depth is context_spec::verify_depth for one connection.
void set_verify_depth(ssl_st* ssl, int intermediates_max) noexcept;

/// certificate_names says, inside a verify_function, whether the peer's own certificate is made out
/// to this host: a DNS name (RFC 6125) or an IP address. True for the certificates above it.
[[nodiscard]] bool certificate_names(x509_store_ctx_st* at, std::string const& host) noexcept;

} // namespace cleat::tls
