// network_settings: the addresses and socket options that a configuration asks for.

#pragma once

#include "certificates/certificate_files.hpp"
#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "config/upstream_index.hpp"
#include "resolver/target_places.hpp"
#include "upstream/upstream_plan.hpp"

#include <cleat/net/socket_options.hpp>

#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// find_addresses looks up the host of a frontend. A host that is not found is an error in
/// `problems`, and has no addresses.
[[nodiscard]] std::vector<net::address> find_addresses(
    frontend_config const& frontend, problem_list& problems);

/// upstreams_before is what the configuration before knows of its servers.
struct upstreams_before
{
    std::span<upstream_plan const> plans{};
    std::span<placed_target const> targets{};
};

/// find_upstream looks up the servers of an upstream block, or the backend where the name is empty.
/// A name that is not found keeps the addresses that it has in `before`, with a warning; where it
/// is not there it is an error. Targets of a service keep the places that they have there. `files`
/// reads the files of TLS to the upstream. `workers` is the number of workers, which share the
/// limits of connections.
[[nodiscard]] upstream_plan find_upstream(
    upstream_index const& index, std::string const& name, std::size_t workers,
    upstreams_before const& before, certificate_files& files, problem_list& problems);

/// dns_settings_of are the DNS servers that are asked for names.
[[nodiscard]] dns_settings dns_settings_of(config const& settings);

/// check_fast_open reports tcp-fastopen where the kernel's settings leave it without effect.
void check_fast_open(config const& settings, problem_list& problems);

/// listen_options_of are the options of every listening socket.
[[nodiscard]] net::listen_options listen_options_of(config const& settings);

} // namespace cleat::app
