// snapshot: everything that a configuration names, loaded and checked, ready to serve from.
// Immutable.

#pragma once

#include "admission/admission.hpp"
#include "certificates/certificate_catalog.hpp"
#include "certificates/expiry.hpp"
#include "config/config.hpp"
#include "config/route_settings.hpp"
#include "limits/limit_plan.hpp"
#include "privileged/opener.hpp"
#include "route/route_table.hpp"
#include "snapshot/predecessor.hpp"
#include "snapshot/secret_loading.hpp"
#include "snapshot/tls_plan.hpp"
#include "upstream/upstream_plan.hpp"
#include "watch/watched_files.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// planned_route is one route.
struct planned_route
{
    std::string text; ///< Its conditions on one line.
    app::location location;
    std::size_t upstream = 0; ///< The number of its upstream.
    bool is_passthrough = false;
    std::size_t tls = 0;          ///< The number of its tls_plan, which may be the frontend's.
    std::size_t announcement = 0; ///< The number of its announcement_rule.
    std::optional<std::size_t> limit{}; ///< The number of its limit; unset: there is none.
};

/// route_plan is the routes of a frontend.
struct route_plan
{
    route_table table;
    std::vector<planned_route> routes;    ///< By their numbers in the table.
    std::vector<unsigned char> protocols; ///< The frontend's, in the form of the wire.
    /// A route has a tls_plan or a limit of its own: the ClientHello is read before TLS begins.
    bool has_settings = false;
};

/// frontend_plan is one place to accept from.
struct frontend_plan
{
    std::string name; ///< As the configuration spells it.
    app::location location;
    std::vector<net::address> addresses; ///< More than one where a name has several.
    std::size_t upstream = 0;            ///< The number of its upstream.
    std::optional<route_plan> routes;    ///< Clients that none takes go to its upstream.
    bool has_tls_upstream = false;       ///< One of these upstreams speaks TLS.
    bool takes_plaintext = false;        ///< Of clients. All of these upstreams speak TLS then.
    std::shared_ptr<app::admission const> admission{}; ///< Null: every client may connect.
};

/// snapshot holds the texts of files, not their names: the files may change afterwards. Only the
/// certificates of a catalog are read again, and their digests checked. Those of certificates and
/// keys are dropped once it serves: see drop_texts.
struct snapshot
{
    config settings;
    certificate_catalog catalog; ///< Without a store for up to certificate-cache certificates.
    /// When certificates expire, by origin; without those of the catalog.
    std::map<std::string, certificate_ending> ends;
    std::vector<crl_ending> crl_ends; ///< Those of clients' authorities.
    std::vector<frontend_plan> frontends;
    /// Those of the frontends, in their order, and behind them those of routes.
    std::vector<tls_plan> tls;
    /// The first is for all routes without one of their own, and for clients that no route takes.
    std::vector<announcement_rule> announcements;
    std::vector<upstream_plan> upstreams; ///< Those that frontends use.
    std::size_t workers = 0;              ///< As the start has counted them.
    std::string challenge_folder;         ///< From the root: see acme-challenges. Empty: none.
    limit_plan limits;
    std::uint64_t memory_max = 0; ///< Bytes: see max-memory. 0: there is none.
    net::listen_options listen_options;
    std::shared_ptr<watch_plan const> watched; ///< With reload-on-change; else null.
    planned_secrets tickets;                   ///< For the keys of session tickets.
};

/// drop_texts drops the text of certificates and keys, which is wiped then. Each worker has made
/// its contexts: nothing needs it any more. Only the origins stay.
void drop_texts(snapshot& configuration) noexcept;

/// limit_of is that of one of the snapshot's frontends.
[[nodiscard]] frontend_limit const& limit_of(
    snapshot const& configuration, frontend_plan const& plan) noexcept;

/// listen_options_of are those of the sockets of one of the snapshot's frontends.
[[nodiscard]] net::listen_options listen_options_of(
    snapshot const& configuration, frontend_plan const& plan);

/// tls_of is that of one of the snapshot's frontends.
[[nodiscard]] tls_plan const& tls_of(
    snapshot const& configuration, frontend_plan const& plan) noexcept;

/// find_ends calls `use` with each certificate; of those in a catalog only with the ones that
/// expire within expires_soon.
void find_ends(snapshot const& configuration, expiry_log::each_certificate const& use);

/// count_certificates counts a certificate of several frontends once.
[[nodiscard]] std::size_t count_certificates(snapshot const& configuration);

/// loading is the result of load: a snapshot, complete only if no problem is an error.
struct loading
{
    snapshot made;
    std::vector<problem> problems;
};

/// load reads every file that the settings name, looks up every host, and builds a TLS context from
/// each frontend's certificates to see that they fit together. Every mistake is reported. Sessions
/// of the predecessor go on, and what is known of the certificates in its catalog is not read
/// again. The observer sees the certificates of a catalog only. root_files opens what this process
/// may not; it outlives the snapshot.
[[nodiscard]] loading load(
    config settings, predecessor const& before = {}, scan_observer const& observer = {},
    opener const& root_files = {});

} // namespace cleat::app
