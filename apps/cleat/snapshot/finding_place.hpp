// finding_place: the setting that a finding of the TLS library is about.

#pragma once

#include "certificates/certificate_files.hpp"
#include "config/config.hpp"
#include "config/tls_scope.hpp"

#include <string>

namespace cleat::app {

struct finding_place
{
    location where;
    std::string key;
    std::string text; ///< The finding, without what the key says already.
};

/// place_of_finding is the setting for a finding about the scope `l`. The finding begins with the
/// name of a member of tls::context_spec, or of a certificate of `files`.
[[nodiscard]] finding_place place_of_finding(
    config const& settings, tls_scope const& l, certificate_files const& files,
    std::string const& finding);

} // namespace cleat::app
