// client_verification: how a frontend verifies its clients, and which of its certificates have a
// rule of their own for that.

#pragma once

#include "certificates/certificate_files.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "config/tls_scope.hpp"
#include "privileged/opener.hpp"

#include <cleat/tls/context_spec.hpp>

#include <map>
#include <optional>
#include <string>

namespace cleat::app {

/// client_verification reads the authorities of a frontend through `files`, which reports those
/// that cannot be read. All that it is made with outlives it.
class client_verification
{
public:
    client_verification(config const& settings, tls_scope const& scope, certificate_files& files)
        : settings_{settings}, scope_{scope}, files_{files}
    {
    }

    /// fill writes the frontend's rule into the spec, with its CRLs. Where the authorities cannot
    /// be read, the spec verifies no client: the rest of it can still be tried out, and no worker
    /// will start, because of the error.
    void fill(tls::context_spec& spec, problem_list& problems, opener const& root_files) const;

    /// own_rules are the rules of the pem-files that verify clients in another way than the
    /// frontend, by the origins in certificate_source. Where two pem-files name one file, the last
    /// one holds.
    [[nodiscard]] std::map<std::string, tls::client_rule> own_rules() const;

private:
    /// fill_crls writes the CRLs and the depth of the frontend's verification into the spec. A file
    /// that cannot be read is an error in `problems`.
    void fill_crls(tls::context_spec& spec, problem_list& problems, opener const& root_files) const;

    /// rule reads the authorities of a mode. Nothing: they cannot be read, or none are named; an
    /// error in `problems` says so.
    [[nodiscard]] std::optional<tls::client_rule> rule(
        setting<client_verify> const& mode, setting<std::string> const& authorities) const;

    [[nodiscard]] setting<client_verify> const& mode() const noexcept
    {
        return effective(scope_.own(&frontend_config::client_verify), settings_.client_verify);
    }
    [[nodiscard]] setting<std::string> const& authorities() const noexcept
    {
        return effective(
            scope_.own(&frontend_config::client_verify_ca), settings_.client_verify_ca);
    }

    config const& settings_;
    tls_scope scope_;
    certificate_files& files_;
};

} // namespace cleat::app
