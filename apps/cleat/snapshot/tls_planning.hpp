// tls_planning: the tls_plans of a configuration, tried out.

#pragma once

#include "certificates/certificate_loading.hpp"
#include "certificates/expiry.hpp"
#include "config/problem_list.hpp"
#include "config/tls_scope.hpp"
#include "privileged/opener.hpp"
#include "snapshot/client_rules_loading.hpp"
#include "snapshot/secret_loading.hpp"
#include "snapshot/tls_plan.hpp"

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_proof.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cleat::app {

/// planned_tls is the part of a snapshot that is planned, and what it needs.
struct planned_tls
{
    config const& settings;
    std::vector<tls_plan>& plans;
    std::map<std::string, certificate_ending>& ends; ///< By origin, without those of a catalog.
    std::vector<crl_ending>& crl_ends;               ///< Those of clients' authorities.
    planned_secrets const& tickets;                  ///< Set before the first plan.
    std::vector<tls_plan> const* before; ///< The configuration's that this one follows, or null.
};

/// tls_planning makes the plans. A setting that cannot be used is an error in `problems`.
/// root_files opens what this process may not. All that it is made with outlives it.
class tls_planning
{
public:
    tls_planning(
        planned_tls const& made, problem_list& problems, certificate_loading& certificates,
        opener const& root_files);

    /// add is for a frontend, by its name; add_unused for one that takes plaintext. Call one of
    /// them for each frontend, in their order.
    void add(std::string const& name, frontend_config const& frontend);
    void add_unused(std::string const& name);

    /// find_or_add is the number of the plan for a route of this frontend, by its number, that has
    /// settings of TLS. All frontends were added. Routes of a frontend with the same settings share
    /// a plan, and so their workers' contexts. Call it in the order of tls_scopes_of.
    [[nodiscard]] std::size_t find_or_add(std::size_t frontend, route_config const& route);

    /// prove_changed tries out the certificates of a catalog that a reload has found changed.
    void prove_changed();

private:
    [[nodiscard]] tls_plan plan(std::string const& name, tls_scope const& scope);
    void append(tls_scope const& scope, tls_plan plan);
    void use_client_rules(tls_scope const& scope, tls_plan& plan);
    void try_out(tls_scope const& scope, tls_plan const& plan);
    void try_out_catalog(tls_scope const& scope, tls_plan& plan);
    void note_crls(tls::context_spec const& spec);
    void note_end(
        tls::certificate_source const& source, tls::context const& context, std::size_t place);
    [[nodiscard]] std::optional<std::size_t> find_same_contexts(tls_plan const& plan) const;
    [[nodiscard]] tls_scope scope_of_plan(std::size_t number) const;
    void prove(
        tls::certificate_proof& proof, tls_scope const& scope,
        catalog_changes::entry const& changed);
    void refuse_unserved(tls_scope const& scope, tls_plan const& plan);
    void report_warnings(tls_scope const& scope, tls::context const& context);
    void report_mistakes(tls_scope const& scope, std::vector<std::string> const& mistakes);

    planned_tls made_;
    config const& settings_;
    problem_list& problems_;
    certificate_loading& certificates_;
    client_rules_loading client_rules_;
    opener const& root_files_;
    std::vector<tls_scope> scopes_; // Of the plans behind those of the frontends.
    std::unordered_multimap<std::size_t, std::size_t> of_routes_; // Their plans, by a hash.
    std::unordered_multimap<std::size_t, std::size_t> of_before_; // Those in before, likewise.
    std::optional<tls::backend::library_state> library_;          // For digests.
    std::set<std::pair<std::string, bool>> known_crls_; // Files, and whether they may be stale.
};

} // namespace cleat::app
