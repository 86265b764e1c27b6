#include "config/check_client_limits.hpp"
#include "config/check_limits.hpp"
#include "config/route_settings.hpp"

#include <fmt/format.h>

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

    // Limits without effect, because another one is always reached first.
    void check_widths() const
    {
        int const all = *config_.max_connections;
        std::string const why = fmt::format(
            "max-connections is {} in all, by {}", all,
            to_string(config_.max_connections.location));
        for (frontend_config const& each : config_.frontends) {
            if (all != 0)
                check_width(each.max_connections, "max-connections", all, why);
            check_frontend_clients(each);
            for (route_config const& route : each.routes)
                check_route(each, route);
        }
        check_inner(false, [&](std::int64_t most, std::string const& reason) {
            check_width(config_.client_max_connections, "client-max-connections", most, reason);
        });
        check_inner(true, [&](std::int64_t most, std::string const& reason) {
            for (upstream_config const& upstream : config_.upstreams)
                for (upstream_server const& server : upstream.servers)
                    check_width(server.max_connections, "max-connections", most, reason);
        });
    }

private:
    void refuse(
        location const& where, std::string_view key, std::string text, std::string cure) const
    {
        problems_.push_back(
            {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
             true});
    }

    void refuse_without_effect(
        location const& where, std::string_view key, std::string const& why) const
    {
        refuse(
            where, key, fmt::format("this has no effect: {}", why),
            "Write a smaller number, or leave one of them out.");
    }

    // Calls `check` with the most connections that there can be at the frontends: all of them, or
    // those whose clients have the global limit.
    template <class Check>
    void check_inner(bool of_all_frontends, Check check) const
    {
        int const all = *config_.max_connections;
        std::int64_t const together = connections_of_frontends(of_all_frontends);
        if (together != 0 && (all == 0 || together < all))
            check(
                together, fmt::format(
                              "the frontends{} have at most {} together",
                              of_all_frontends ? "" : " without one of their own", together));
        else if (all != 0)
            check(
                all, fmt::format(
                         "max-connections is {} in all, by {}", all,
                         to_string(config_.max_connections.location)));
    }

    void check_width(
        setting<int> const& inner, std::string_view key, std::int64_t most,
        std::string const& why) const
    {
        if (*inner >= most)
            refuse_without_effect(inner.location, key, why);
    }

    // 0: one of them has no limit.
    [[nodiscard]] std::int64_t connections_of_frontends(bool of_all_frontends) const
    {
        std::int64_t together = 0;
        for (frontend_config const& each : config_.frontends) {
            if (!of_all_frontends && each.client_max_connections)
                continue;
            if (*each.max_connections == 0)
                return 0;
            together += *each.max_connections;
        }
        return together;
    }

    // The narrowest limit of all connections that a frontend has.
    [[nodiscard]] setting<int> const& around(frontend_config const& frontend) const
    {
        return *frontend.max_connections != 0 ? frontend.max_connections : config_.max_connections;
    }

    void check_against(
        setting<int> const& inner, std::string_view key, setting<int> const& outer,
        std::string_view outer_key) const
    {
        if (*outer != 0)
            check_width(
                inner, key, *outer,
                fmt::format(
                    "{} is {} around it, by {}", outer_key, *outer, to_string(outer.location)));
    }

    void check_frontend_clients(frontend_config const& each) const
    {
        if (each.client_max_connections)
            check_against(
                *each.client_max_connections, "client-max-connections", around(each),
                "max-connections");
    }

    void check_route(frontend_config const& frontend, route_config const& route) const
    {
        if (route.settings == nullptr)
            return;
        setting<int> const& all = route.settings->own.max_connections;
        check_against(all, "max-connections", around(frontend), "max-connections");
        client_limit_settings const own = client_limits_of(route);
        client_limit_settings const outer = client_limits_of(config_, frontend);
        constexpr std::string_view key = "client-max-connections";
        check_against(own.connections, key, *all != 0 ? all : around(frontend), "max-connections");
        check_against(own.connections, key, outer.connections, key);
        if (*own.rate != 0 && *outer.rate != 0 && *own.rate >= *outer.rate &&
            burst_of(own) >= burst_of(outer))
            refuse_without_effect(
                own.rate.location, "client-handshake-rate",
                fmt::format(
                    "client-handshake-rate is {} around it, by {}, and a client may begin {} at "
                    "once",
                    *outer.rate, to_string(outer.rate.location), burst_of(outer)));
    }

    [[nodiscard]] static int burst_of(client_limit_settings const& limits) noexcept
    {
        return *limits.burst != 0 ? *limits.burst : *limits.rate;
    }

    config const& config_;
    std::vector<problem>& problems_;
};

} // namespace

void check_limits(config const& settings, std::vector<problem>& problems)
{
    limit_check{settings, problems}.check_widths();
    check_client_limits(settings, problems);
}

} // namespace cleat::app
