#include "config/check_limits.hpp"
#include "config/route_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

class limit_check
{
public:
    limit_check(config const& c, std::vector<problem>& problems) : config_{c}, problems_{problems}
    {
    }

    void run()
    {
        check_widths();
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

    // Limits without effect, because another one is always reached first.
    void check_widths() const
    {
        check_route_widths();
        int const all = *config_.max_connections;
        std::string const why = fmt::format(
            "max-connections is {} in all, by {}", all,
            to_string(config_.max_connections.location));
        if (all != 0)
            for (frontend_config const& each : config_.frontends)
                check_width(each.max_connections, "max-connections", all, why);
        std::int64_t const together = connections_of_frontends();
        if (together != 0 && (all == 0 || together < all))
            check_inner(together, fmt::format("the frontends have at most {} together", together));
        else if (all != 0)
            check_inner(all, why);
    }

    void check_inner(std::int64_t most, std::string const& why) const
    {
        check_width(config_.client_max_connections, "client-max-connections", most, why);
        for (upstream_config const& upstream : config_.upstreams)
            for (upstream_server const& server : upstream.servers)
                check_width(server.max_connections, "max-connections", most, why);
    }

    void check_width(
        setting<int> const& inner, std::string_view key, std::int64_t most,
        std::string const& why) const
    {
        if (*inner >= most)
            refuse(
                inner.location, key, fmt::format("this has no effect: {}", why),
                "Write a smaller number, or leave one of them out.");
    }

    // 0: one of them has no limit.
    [[nodiscard]] std::int64_t connections_of_frontends() const
    {
        std::int64_t together = 0;
        for (frontend_config const& each : config_.frontends) {
            if (*each.max_connections == 0)
                return 0;
            together += *each.max_connections;
        }
        return together;
    }

    // The narrowest of the limits around a route's.
    void check_route_widths() const
    {
        for (frontend_config const& each : config_.frontends) {
            setting<int> const& outer =
                *each.max_connections != 0 ? each.max_connections : config_.max_connections;
            for (route_config const& route : each.routes)
                if (*outer != 0 && connection_limit_of(route) >= *outer)
                    refuse(
                        route.settings->own.max_connections.location, "max-connections",
                        fmt::format(
                            "this has no effect: max-connections is {} around it, by {}", *outer,
                            to_string(outer.location)),
                        "Write a smaller number, or leave one of them out.");
        }
    }

    // Keys that only refine another one. Their defaults are no mistake: `cleat --default-config`
    // writes them.
    void check_companions() const
    {
        config const usual{};
        bool const has_rate = *config_.client_handshake_rate != 0;
        if (*config_.client_handshake_burst != 0 && !has_rate)
            refuse(
                config_.client_handshake_burst.location, "client-handshake-burst",
                "this is a part of client-handshake-rate, which is not set",
                "Set client-handshake-rate, or leave this out.");
        if (has_rate || *config_.client_max_connections != 0)
            return;
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

    // The peer is a balancer, which would be one client with the connections of all.
    void check_peers() const
    {
        bool const has_unknown =
            std::ranges::any_of(config_.frontends, [&](frontend_config const& each) {
                return !effective(each.proxy_from, config_.proxy_from)->is_on();
            });
        if (!has_unknown)
            return;
        struct limit
        {
            std::string_view key;
            setting<int> const& value;
        };
        for (limit const& each :
             {limit{"client-max-connections", config_.client_max_connections},
              limit{"client-handshake-rate", config_.client_handshake_rate}})
            if (*each.value != 0)
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

void check_limits(config const& settings, std::vector<problem>& problems)
{
    limit_check{settings, problems}.run();
}

} // namespace cleat::app
