// upstream_plan: the servers that a frontend's plaintext goes to.

#pragma once

#include "config/config.hpp"
#include "resolver/dns_timing.hpp"
#include "upstream/check_rule.hpp"
#include "upstream/local_ports.hpp"
#include "upstream/preconnect_rule.hpp"
#include "upstream_tls/upstream_tls.hpp"

#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// server_plan is one server of an upstream.
struct server_plan
{
    std::string name;                    ///< Its address, as the configuration has it.
    std::vector<net::address> addresses; ///< To be tried in their order.
    unsigned weight = 1;                 ///< Its share of the connections, from 1 on.
    bool is_backup = false;              ///< It serves only while no other server does.
    std::size_t connections_max = 0;     ///< For all workers together; 0: no limit.
    bool is_place = false;  ///< For another target of the service that the server before it names.
    std::string tls_name{}; ///< The name of its certificate, with TLS.
    std::string target{};   ///< Of a service; it stays after it has gone, until there is another.
};

/// planned_name is a name that is looked up again, and the servers that it stands for: one for a
/// host, and a place for each target of a service. A place may be empty: it has no addresses.
struct planned_name
{
    watched_name watched;
    std::size_t server = 0;           ///< The first of them.
    std::vector<std::string> targets; ///< By place: see server_plan; of a host it is empty.
    unsigned weight = 1;              ///< Each target's is multiplied by it.
    bool is_backup = false;           ///< All targets are backups.
    bool is_kept = false; ///< It was not found: the addresses are the configuration's before.
};

/// upstream_plan is an upstream block, or the backend as an upstream of one server.
struct upstream_plan
{
    std::string name; ///< The block's, or the backend's address.
    std::vector<server_plan> servers;
    balance strategy = balance::round_robin;
    unsigned eject_after = 3; ///< Failed connects in a row. 0: a server is never left out.
    std::chrono::milliseconds eject_time{10'000};
    std::chrono::milliseconds slow_start{0}; ///< For the weight of a server that comes back.
    check_rule check{};
    preconnect_rule preconnect{};
    std::size_t workers = 1; ///< They share the connections that a server may have.
    std::vector<planned_name> names{};
    std::vector<net::address> sources{};    ///< Empty: the kernel chooses.
    std::optional<local_ports> ports{};     ///< Workers share them; nothing: the kernel chooses.
    std::optional<upstream_tls_plan> tls{}; ///< Set: the servers speak TLS.
};

/// describe is the upstream on one line: "app, round-robin: [10.0.0.1]:80 (weight 2), /run/app
/// (backup)".
[[nodiscard]] std::string describe(upstream_plan const& upstream);

/// is_configured_alike compares two upstreams of one name by what the configuration says of them:
/// not by addresses that DNS has answered with, nor by the files of TLS to the servers.
[[nodiscard]] bool is_configured_alike(upstream_plan const& one, upstream_plan const& other);

} // namespace cleat::app
