// network_settings: the addresses and socket options that a configuration asks for.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"

#include <cleat/net/socket_options.hpp>

#include <vector>

namespace cleat::app {

/// find_addresses looks up the host of a frontend. A host that is not found is an error in
/// `problems`, and has no addresses.
[[nodiscard]] std::vector<net::address> find_addresses(
    frontend_config const& frontend, problem_list& problems);

/// find_upstream looks up the backend: addresses to be tried in their order. A backend that is not
/// found is an error in `problems`, and has no addresses.
[[nodiscard]] std::vector<net::address> find_upstream(
    upstream_address const& backend, location const& where, problem_list& problems);

/// check_fast_open reports tcp-fastopen where the kernel's settings leave it without effect.
void check_fast_open(config const& settings, problem_list& problems);

/// listen_options_of are the options of every listening socket.
[[nodiscard]] net::listen_options listen_options_of(config const& settings);

} // namespace cleat::app
