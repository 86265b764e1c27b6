#include "config/route_settings.hpp"

#include <algorithm>
#include <memory>

namespace cleat::app {
namespace {

// Calls `use` with each setting of TLS that a frontend and a route may have; lists are not among
// them.
template <class Use>
void for_each_tls_setting(Use use)
{
    using scope = frontend_config;
    use("client-verify", &scope::client_verify);
    use("client-verify-ca", &scope::client_verify_ca);
    use("client-verify-sigalgs", &scope::client_verify_sigalgs);
    use("client-verify-depth", &scope::client_verify_depth);
    use("client-verify-crl", &scope::client_verify_crl);
    use("client-verify-crl-stale", &scope::client_verify_crl_stale);
    use("client-allow-file", &scope::client_allow_file);
    use("certificate-compression", &scope::certificate_compression);
    use("tls-protos", &scope::tls_protos);
    use("ciphers", &scope::ciphers);
    use("ciphersuites", &scope::ciphersuites);
    use("prefer-server-ciphers", &scope::prefer_server_ciphers);
    use("ecdh-curve", &scope::ecdh_curve);
}

// The same with what the upstream gets.
template <class Use>
void for_each_header_setting(Use use)
{
    using own = route_settings;
    use("write-proxy-v2", &own::write_proxy_v2);
    use("write-proxy-v1", &own::write_proxy_v1);
    use("write-ip", &own::write_ip);
    use("proxy-proxy", &own::proxy_proxy);
    use("proxy-inbound-tlvs", &own::proxy_inbound_tlvs);
    use("proxy-checksum", &own::proxy_checksum);
    use("proxy-tlv", &own::proxy_tlv);
    use("proxy-authority", &own::proxy_authority);
    use("proxy-client-cert", &own::proxy_client_cert);
}

announcement way_of(config const& settings, route_settings const& own) noexcept
{
    struct way
    {
        optional_setting<bool> const& asked;
        announcement means;
    };
    announcement found = *settings.announce;
    way const ways[] = {
        {own.write_ip, announcement::write_ip},
        {own.write_proxy_v1, announcement::write_proxy_v1},
        {own.write_proxy_v2, announcement::write_proxy_v2},
        {own.proxy_proxy, announcement::proxy_proxy}};
    for (way const& each : ways)
        if (each.asked && !**each.asked && each.means == *settings.announce)
            found = announcement::nothing;
    for (way const& each : ways)
        if (each.asked && **each.asked)
            found = each.means;
    return found;
}

} // namespace

route_settings& settings_of(route_config& route)
{
    if (route.settings == nullptr)
        route.settings = std::make_shared<route_settings>();
    return *route.settings;
}

std::vector<named_place> tls_settings_of(route_config const& route)
{
    std::vector<named_place> found;
    if (route.settings == nullptr)
        return found;
    frontend_config const& own = route.settings->own;
    if (!own.pem_files.empty())
        found.push_back({"pem-file", &own.pem_files.front().location});
    if (!own.certificate_rules.empty())
        found.push_back({"client-allow", &own.certificate_rules.front().location});
    for_each_tls_setting([&](std::string_view key, auto member) {
        if (own.*member)
            found.push_back({key, &(own.*member)->location});
    });
    return found;
}

std::vector<named_place> header_settings_of(route_config const& route)
{
    std::vector<named_place> found;
    if (route.settings == nullptr)
        return found;
    for_each_header_setting([&](std::string_view key, auto member) {
        if ((*route.settings).*member)
            found.push_back({key, &((*route.settings).*member)->location});
    });
    return found;
}

bool has_tls_settings(route_config const& route)
{
    return !tls_settings_of(route).empty();
}

int connection_limit_of(route_config const& route) noexcept
{
    return route.settings == nullptr ? 0 : *route.settings->own.max_connections;
}

client_limit_settings client_limits_of(
    config const& settings, frontend_config const& frontend) noexcept
{
    return {
        effective(frontend.client_max_connections, settings.client_max_connections),
        effective(frontend.client_handshake_rate, settings.client_handshake_rate),
        effective(frontend.client_handshake_burst, settings.client_handshake_burst)};
}

client_limit_settings client_limits_of(route_config const& route) noexcept
{
    static setting<int> const none{0};
    if (route.settings == nullptr)
        return {none, none, none};
    frontend_config const& own = route.settings->own;
    return {
        effective(own.client_max_connections, none), effective(own.client_handshake_rate, none),
        effective(own.client_handshake_burst, none)};
}

bool has_client_limits(frontend_config const& frontend) noexcept
{
    return frontend.client_max_connections || frontend.client_handshake_rate ||
           frontend.client_handshake_burst;
}

bool has_limits(route_config const& route) noexcept
{
    return connection_limit_of(route) != 0 || client_limits_of(route).is_on();
}

std::vector<own_certificates> own_certificates_of(config const& settings)
{
    std::vector<own_certificates> found;
    std::vector<own_certificates> of_routes;
    for (frontend_config const& each : settings.frontends) {
        if (takes_plaintext(settings, each))
            continue;
        if (!each.pem_files.empty())
            found.push_back({&each.pem_files, each.uses_global_certs()});
        for (route_config const& route : each.routes)
            if (route.settings != nullptr && !route.settings->own.pem_files.empty())
                of_routes.push_back({&route.settings->own.pem_files, false});
    }
    found.insert(found.end(), of_routes.begin(), of_routes.end());
    return found;
}

announcement_rule announcement_rule_of(config const& settings) noexcept
{
    return {*settings.announce,          *settings.proxy_tlv,      *settings.proxy_authority,
            *settings.proxy_client_cert, *settings.proxy_checksum, *settings.proxy_inbound_tlvs};
}

announcement_rule announcement_rule_of(config const& settings, route_config const& route) noexcept
{
    if (route.settings == nullptr)
        return announcement_rule_of(settings);
    route_settings const& own = *route.settings;
    return {
        way_of(settings, own),
        *effective(own.proxy_tlv, settings.proxy_tlv),
        *effective(own.proxy_authority, settings.proxy_authority),
        *effective(own.proxy_client_cert, settings.proxy_client_cert),
        *effective(own.proxy_checksum, settings.proxy_checksum),
        *effective(own.proxy_inbound_tlvs, settings.proxy_inbound_tlvs)};
}

std::vector<announcement_rule> announcement_rules_of(config const& settings)
{
    std::vector<announcement_rule> found{announcement_rule_of(settings)};
    for (frontend_config const& each : settings.frontends)
        for (route_config const& route : each.routes)
            if (!header_settings_of(route).empty())
                found.push_back(announcement_rule_of(settings, route));
    return found;
}

bool gets_proxy_v2(config const& settings)
{
    return std::ranges::any_of(announcement_rules_of(settings), [](announcement_rule const& each) {
        return each.way == announcement::write_proxy_v2;
    });
}

} // namespace cleat::app
