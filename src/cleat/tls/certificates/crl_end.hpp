// crl_end: when certificate revocation lists (RFC 5280, section 5) become stale.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace cleat::tls {

/// crl_end is the nextUpdate of a CRL, from which on it is stale.
struct crl_end
{
    std::string origin; ///< As in crl_source.
    std::chrono::sys_seconds time;

    friend bool operator==(crl_end const&, crl_end const&) = default;
};

/// find_crl_ends reads all CRLs of a source. One without nextUpdate has no end. A source that
/// cannot be read has none: the context that is made of it says why.
[[nodiscard]] std::vector<crl_end> find_crl_ends(crl_source const& source);

} // namespace cleat::tls
