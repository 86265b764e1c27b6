// tls_plan: how cleat speaks TLS with the clients of a frontend, or of a route that has settings of
// its own.

#pragma once

#include "certificates/expiry.hpp"
#include "snapshot/client_rules_loading.hpp"

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// tls_plan is what a worker makes a TLS context of. A frontend that takes plaintext has one, too,
/// without certificates, for its number: no connection uses it.
struct tls_plan
{
    std::string frontend; ///< Its name.
    tls::context_spec spec{};
    /// The set in the catalog; null: the certificates are in the spec.
    tls::certificate_set const* certificates = nullptr;
    /// Of certificates that verify clients otherwise than the spec, by origin.
    std::map<std::string, tls::client_rule> client_rules{};
    std::shared_ptr<client_check const> clients{}; ///< Null: no client shows a certificate.
    /// With which no handshake is possible, by an example of each type of key, for a catalog.
    tls::candidates unusable_types{};
    /// The plan of the configuration before whose TLS contexts serve for this one, too, with other
    /// certificates of its catalog.
    std::optional<std::size_t> same_contexts{};
};

/// certificate_ending is when a certificate expires, and which one that is to a person.
struct certificate_ending
{
    validity valid{};
    tls::file_digest digest{};        ///< Of all its files: see tls::source_digest.
    std::vector<std::string> names{}; ///< The first limits::admin_names_max.
    std::size_t name_count = 0;       ///< All of them.
};

} // namespace cleat::app
