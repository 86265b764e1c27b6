// route_settings: what the settings of a route are, and which settings hold for its clients.

#pragma once

#include "config/config.hpp"

#include <string_view>
#include <vector>

namespace cleat::app {

/// named_place is a setting that was written, with its key. The settings own the location.
struct named_place
{
    std::string_view key;
    location const* where;
};

/// settings_of are the settings of the route, made empty where it had none.
[[nodiscard]] route_settings& settings_of(route_config& route);

/// tls_settings_of are the route's settings of TLS: certificates, versions, suites and groups, and
/// the verification of clients. header_settings_of are those of what the upstream gets about the
/// client. Both in the order of the reference.
[[nodiscard]] std::vector<named_place> tls_settings_of(route_config const& route);
[[nodiscard]] std::vector<named_place> header_settings_of(route_config const& route);

/// has_tls_settings: tls_settings_of is not empty.
[[nodiscard]] bool has_tls_settings(route_config const& route);

/// connection_limit_of is max-connections of the route; 0: there is no limit.
[[nodiscard]] int connection_limit_of(route_config const& route) noexcept;

/// client_limit_settings are the limits of one client in some scope. The settings outlive it.
struct client_limit_settings
{
    setting<int> const& connections;
    setting<int> const& rate;
    setting<int> const& burst;

    [[nodiscard]] bool is_on() const noexcept { return *connections != 0 || *rate != 0; }
};

/// client_limits_of are those in force at a frontend, where its own replace the global ones, or
/// those that a route has beside them.
[[nodiscard]] client_limit_settings client_limits_of(
    config const& settings, frontend_config const& frontend) noexcept;
[[nodiscard]] client_limit_settings client_limits_of(route_config const& route) noexcept;

/// has_client_limits: one of the three is written in the frontend, so it counts its clients apart.
[[nodiscard]] bool has_client_limits(frontend_config const& frontend) noexcept;

/// has_limits: the route has a limit of connections, or of a client.
[[nodiscard]] bool has_limits(route_config const& route) noexcept;

/// own_certificates are those of a frontend or a route.
struct own_certificates
{
    std::vector<pem_file> const* files;
    bool with_global; ///< The global ones serve below them.
};

/// own_certificates_of are the frontends with certificates of their own, and behind them such
/// routes, in the order of tls_scopes_of, without those in plaintext: their certificates are a
/// mistake, and are not loaded. The settings outlive it.
[[nodiscard]] std::vector<own_certificates> own_certificates_of(config const& settings);

/// announcement_rule is what an upstream gets about the client.
struct announcement_rule
{
    announcement way = announcement::nothing;
    bool has_tls_facts = true;
    bool has_server_name = true;
    bool has_client_certificate = false;
    bool has_checksum = false;
    inbound_tlvs received = inbound_tlvs::keep;

    friend bool operator==(announcement_rule const&, announcement_rule const&) = default;
};

/// announcement_rule_of is the rule of the settings, for all routes without one of their own, or
/// the rule of this route. check() has seen the settings.
[[nodiscard]] announcement_rule announcement_rule_of(config const& settings) noexcept;
[[nodiscard]] announcement_rule announcement_rule_of(
    config const& settings, route_config const& route) noexcept;

/// announcement_rules_of are the rule of the settings, and the rules of the routes that have their
/// own.
[[nodiscard]] std::vector<announcement_rule> announcement_rules_of(config const& settings);

/// gets_proxy_v2: some client's upstream gets a PROXY header of version 2.
[[nodiscard]] bool gets_proxy_v2(config const& settings);

} // namespace cleat::app
