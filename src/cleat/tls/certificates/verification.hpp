// verification: settings of one connection for its peer's certificate, in place of its context's.
//
// Call each function before the handshake, on the thread of the connection. A server's connection
// that was changed resumes no session: the session may have been made under weaker rules. For the
// same reason a client's connection that was changed leaves the cache of its context
// (context_spec::sessions).

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <string>
#include <string_view>

struct ssl_st;
struct x509_store_ctx_st;

namespace cleat::tls {

/// set_verification replaces context_spec::verify. `optional` means `required` for a client. The
/// authorities are the context's; where it has none, no certificate verifies.
void set_verification(ssl_st* ssl, peer_verification verification) noexcept;

/// set_verify_function replaces context_spec::verify_function. Where verification is off it is
/// switched on, as `optional`: otherwise the function would not be called. Throws std::bad_alloc.
void set_verify_function(ssl_st* ssl, verify_function function);

/// set_verify_depth is context_spec::verify_depth for one connection.
void set_verify_depth(ssl_st* ssl, int intermediates_max) noexcept;

/// set_server_name gives a client's connection a name in place of context_spec::server_name: the
/// server's certificate must have it, and it is sent as SNI. An IP address is only verified. False:
/// there is no memory.
[[nodiscard]] bool set_server_name(ssl_st* ssl, std::string const& name) noexcept;

/// offer_protocol makes a client's connection offer this protocol alone, in place of
/// context_spec::alpn (RFC 7301). It has 1 to 255 bytes. False: there is no memory.
[[nodiscard]] bool offer_protocol(ssl_st* ssl, std::string_view protocol) noexcept;

/// certificate_names says, inside a verify_function, whether the peer's own certificate is issued
/// for this host: a DNS name (RFC 6125) or an IP address. True for the certificates above it.
[[nodiscard]] bool certificate_names(
    x509_store_ctx_st* store_ctx, std::string const& host) noexcept;

} // namespace cleat::tls
