// fleet: whether the servers behind several addresses resume each other's sessions.

#pragma once

#include "probe/probe_options.hpp"
#include "probe/probe_report.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// fleet_way is one way to resume, and a client that does it.
struct fleet_way
{
    std::string_view name;
    tls::context const& context;
    bool by_ticket = true;
};

/// fleet_query is a probed server and the others. All that it refers to outlives the call.
struct fleet_query
{
    net::address const& address; ///< Of the server that gives the sessions.
    std::string const& port;     ///< For hosts without a port of their own.
    std::string const& request;  ///< A server may send tickets with its answer only.
    probe_options const& options;
};

/// find_fleet offers a session of the probed server to each address of each host in
/// probe_options::fleet, in each way. An address that cannot be reached has an error.
[[nodiscard]] std::vector<probed_member> find_fleet(
    fleet_query const& query, std::vector<fleet_way> const& ways);

/// with_port is HOST:PORT; `port` is for a text without one.
[[nodiscard]] std::string with_port(std::string const& text, std::string const& port);

} // namespace cleat::bench
