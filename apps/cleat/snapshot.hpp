// snapshot: everything that a configuration names, loaded and checked, ready to serve from.
// Immutable.

#pragma once

#include "certificate_catalog.hpp"
#include "config/config.hpp"
#include "expiry.hpp"
#include "watch/watched_files.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// frontend_plan is one place to accept from.
struct frontend_plan
{
    std::string name; ///< As the configuration spells it.
    app::location location;
    std::vector<net::address> addresses; ///< More than one where a name has several.
    tls::context_spec tls;
    /// The frontend's set in the catalog; null: its certificates are in `tls`.
    tls::certificate_set const* certificates = nullptr;
};

/// snapshot holds the texts of files, not their names: the files may change afterwards. Only the
/// certificates of a catalog are read again, and their digests checked.
struct snapshot
{
    config settings;
    certificate_catalog catalog; ///< Empty for up to certificate-cache certificates.
    /// When certificates expire, by origin; without those of the catalog.
    std::map<std::string, std::chrono::sys_seconds> ends;
    std::vector<frontend_plan> frontends;
    std::vector<net::address> upstream; ///< To be tried in order.
    net::listen_options listen_options;
    watch_plan watched;                                ///< With reload-on-change; else empty.
    std::shared_ptr<tls::ticket_secret const> tickets; ///< For the keys of session tickets.
};

/// find_ends calls `use` with each certificate.
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
/// each frontend's certificates to see that they fit together. Every mistake is reported. tickets
/// is the secret of the configuration before, whose sessions go on; null: a new one is made. The
/// observer sees the certificates of a catalog only.
[[nodiscard]] loading load(
    config settings, std::shared_ptr<tls::ticket_secret const> tickets = nullptr,
    scan_observer const& observer = {});

} // namespace cleat::app
