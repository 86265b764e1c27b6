// crl: certificate revocation lists (RFC 5280, section 5). Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <string>
#include <vector>

namespace cleat::tls {

/// read_crls reads all CRLs of the sources. Those whose nextUpdate has passed are a warning. Throws
/// spec_error, which begins with the origin, for a source that has none, or one that cannot be
/// read.
[[nodiscard]] std::vector<x509_crl_ptr> read_crls(
    std::vector<crl_source> const& sources, std::vector<std::string>& warnings);

/// cleat_accept_stale_crl is a callback for SSL_CTX_set_verify that lets the old CRL of an
/// authority count.
extern "C" int cleat_accept_stale_crl(int preverified, X509_STORE_CTX* store_ctx);

} // namespace cleat::tls
