// certificate_check: whether certificates and keys in PEM can be used, before a context is made of
// them. Not a public header.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/context_spec.hpp>

#include <string>
#include <string_view>

namespace cleat::tls {

// Each throws spec_error, which names the origin, the line and the cure.

/// check_chain_pem, check_authorities_pem: the text has a certificate, and all of it can be
/// decoded.
void check_chain_pem(std::string_view pem, std::string const& origin);
void check_authorities_pem(std::string_view pem, std::string const& origin);

/// check_key_pem: the text's first private key can be decoded, and TLS servers can use it.
void check_key_pem(std::string_view pem, std::string const& origin);

/// check_pair: the private key belongs to the first certificate of the chain. Returns its type.
key_type check_pair(certificate_source const& pair);

} // namespace cleat::tls
