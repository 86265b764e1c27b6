#include "config/check_client_limits.hpp"
#include "config/route_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

class client_limit_check
{
public:
    client_limit_check(config const& c, std::vector<problem>& problems)
        : config_{c}, problems_{problems}
    {
    }

    void run()
    {
        check_replaced();
        check_bursts();
        if (!limits_clients())
            check_companions();
        if (*config_.announce == announcement::proxy_proxy)
            check_peers();
    }

private:
    void refuse(
        location const& where, std::string_view key, std::string text, std::string cure) const
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
             true});
    }

    // A global limit that each frontend replaces.
    void check_replaced() const
    {
        struct limit
        {
            std::string_view key;
            setting<int> const& global;
            optional_setting<int> frontend_config::*own;
        };
        if (config_.frontends.empty())
            return;
        for (limit const& each :
             {limit{
                  "client-max-connections", config_.client_max_connections,
                  &frontend_config::client_max_connections},
              limit{
                  "client-handshake-rate", config_.client_handshake_rate,
                  &frontend_config::client_handshake_rate},
              limit{
                  "client-handshake-burst", config_.client_handshake_burst,
                  &frontend_config::client_handshake_burst}})
            if (*each.global != 0 &&
                std::ranges::all_of(config_.frontends, [&](frontend_config const& frontend) {
                    return (frontend.*each.own).has_value();
                }))
                refuse(
                    each.global.location, each.key,
                    fmt::format("this has no effect: every frontend has its own {}", each.key),
                    "Leave it out, or leave out a frontend's.");
    }

    void check_burst(setting<int> const& burst, bool has_rate) const
    {
        if (*burst != 0 && !has_rate)
            refuse(
                burst.location, "client-handshake-burst",
                "this is a part of client-handshake-rate, which is not set",
                "Set client-handshake-rate, or leave this out.");
    }

    void check_bursts() const
    {
        check_burst(
            config_.client_handshake_burst,
            *config_.client_handshake_rate != 0 ||
                std::ranges::any_of(config_.frontends, [](frontend_config const& each) {
                    return !each.client_handshake_burst && each.client_handshake_rate &&
                           **each.client_handshake_rate != 0;
                }));
        for (frontend_config const& each : config_.frontends) {
            if (each.client_handshake_burst)
                check_burst(
                    *each.client_handshake_burst, *client_limits_of(config_, each).rate != 0);
            for (route_config const& route : each.routes)
                check_burst(client_limits_of(route).burst, *client_limits_of(route).rate != 0);
        }
    }

    // Keys that only refine another one. Their defaults are no mistake: `cleat --default-config`
    // writes them.
    void check_companions() const
    {
        config const usual{};
        struct companion
        {
            std::string_view key;
            setting<int> config::*member;
        };
        for (companion const& each :
             {companion{"client-prefix-ipv4", &config::client_prefix_ipv4},
              companion{"client-prefix-ipv6", &config::client_prefix_ipv6},
              companion{"client-table-size", &config::client_table_size}})
            if (*(config_.*each.member) != *(usual.*each.member))
                refuse(
                    (config_.*each.member).location, each.key,
                    "clients have no limit: neither client-max-connections nor "
                    "client-handshake-rate is set",
                    "Set one of them, or leave this out.");
    }

    // Somewhere.
    [[nodiscard]] bool limits_clients() const
    {
        if (*config_.client_max_connections != 0 || *config_.client_handshake_rate != 0)
            return true;
        return std::ranges::any_of(config_.frontends, [&](frontend_config const& each) {
            return client_limits_of(config_, each).is_on() ||
                   std::ranges::any_of(each.routes, [](route_config const& route) {
                       return client_limits_of(route).is_on();
                   });
        });
    }

    // The peer is a balancer, which would be one client with the connections of all.
    void check_peers() const
    {
        std::set<location const*> refused; // Several frontends may have one global limit.
        for (frontend_config const& each : config_.frontends) {
            if (effective(each.proxy_from, config_.proxy_from)->is_on())
                continue;
            check_peers_of(client_limits_of(config_, each), refused);
            for (route_config const& route : each.routes)
                check_peers_of(client_limits_of(route), refused);
        }
    }

    void check_peers_of(
        client_limit_settings const& limits, std::set<location const*>& refused) const
    {
        struct limit
        {
            std::string_view key;
            setting<int> const& value;
        };
        for (limit const& each :
             {limit{"client-max-connections", limits.connections},
              limit{"client-handshake-rate", limits.rate}})
            if (*each.value != 0 && refused.insert(&each.value.location).second)
                refuse(
                    each.value.location, each.key,
                    "proxy-proxy takes a PROXY header from every peer, so every peer could come as "
                    "many clients",
                    "Name the load balancers with proxy-from.");
    }

    config const& config_;
    std::vector<problem>& problems_;
};

} // namespace

void check_client_limits(config const& settings, std::vector<problem>& problems)
{
    client_limit_check{settings, problems}.run();
}

} // namespace cleat::app
