#include "config/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <syslog.h>

namespace cleat::app {

syslog_facility default_facility() noexcept
{
    return {"daemon", LOG_DAEMON};
}

std::string to_string(location const& place)
{
    if (place.is_built_in())
        return "built-in default";
    if (place.line == 0)
        return place.source;
    return fmt::format("{}:{}:{}", place.source, place.line, place.column);
}

std::string to_string(problem const& found)
{
    std::string line;
    if (!found.where.is_built_in())
        line += to_string(found.where) + ": ";
    line += found.grade == problem::severity::error ? "error: " : "warning: ";
    // A flag names its key: "workers" after "--workers" would only repeat it.
    if (!found.key.empty() && found.where.line != 0)
        line += found.key + ": ";
    line += found.text + ".";
    if (!found.cure.empty())
        line += " " + found.cure;
    return line;
}

bool has_errors(std::vector<problem> const& problems) noexcept
{
    return std::ranges::any_of(
        problems, [](problem const& each) { return each.grade == problem::severity::error; });
}

bool rest_is_whole(std::vector<problem> const& problems) noexcept
{
    return std::ranges::all_of(problems, [](problem const& each) {
        return each.grade != problem::severity::error || each.rest_is_whole;
    });
}

namespace {

// A default that a file has, as `cleat --default-config` writes it, is no setting.
template <class T>
void forget_default(setting<T>& one, T const& usual)
{
    if (*one == usual)
        one.location = {};
}

} // namespace

upstream_config backend_block(config const& settings)
{
    upstream_config made;
    made.location = settings.backend.location;
    made.servers.emplace_back();
    made.servers.front().location = settings.backend.location;
    made.servers.front().address = settings.backend;
    made.tls = settings.backend_tls;
    made.tls.enabled = settings.client;
    upstream_tls_config const usual;
    forget_default(made.tls.verify, *usual.verify);
    forget_default(made.tls.ca, *usual.ca);
    forget_default(made.tls.name, *usual.name);
    forget_default(made.tls.alpn, *usual.alpn);
    forget_default(made.tls.cert, *usual.cert);
    forget_default(made.tls.key, *usual.key);
    forget_default(made.tls.proxy_header, *usual.proxy_header);
    if (!*settings.client)
        return made;
    config const built_in;
    made.tls.protos = settings.tls_protos;
    if (*settings.ecdh_curve != *built_in.ecdh_curve)
        made.tls.groups = settings.ecdh_curve;
    if (*settings.ciphers != *built_in.ciphers)
        made.tls.ciphers = settings.ciphers;
    made.tls.ciphersuites = settings.ciphersuites;
    return made;
}

bool takes_plaintext(config const& settings, frontend_config const& frontend)
{
    return *effective(frontend.client, settings.client);
}

std::vector<allow_rule> rules_of(std::vector<allow_config> const& blocks)
{
    std::vector<allow_rule> rules;
    for (allow_config const& each : blocks)
        rules.push_back(
            {.origin = fmt::format("{}:{}", each.location.source, each.location.line),
             .conditions = each.conditions});
    return rules;
}

std::vector<route_rule> rules_of(frontend_config const& frontend)
{
    std::vector<route_rule> rules;
    for (route_config const& each : frontend.routes) {
        route_rule made{.protocols = *each.alpn, .is_passthrough = *each.passthrough};
        for (setting<server_name_pattern> const& name : each.sni)
            made.names.push_back(*name);
        for (setting<ip_prefix> const& prefix : each.client_address)
            made.clients.push_back(*prefix);
        made.certificates = rules_of(each.certificate_rules);
        rules.push_back(std::move(made));
    }
    return rules;
}

std::vector<named_list> address_lists_of(config const& settings)
{
    std::vector<named_list> found{
        {"allow-from", &settings.allow_from},
        {"deny-from", &settings.deny_from},
        {"proxy-from", &settings.proxy_from}};
    for (frontend_config const& each : settings.frontends) {
        if (each.allow_from)
            found.push_back({"allow-from", &*each.allow_from});
        if (each.deny_from)
            found.push_back({"deny-from", &*each.deny_from});
        if (each.proxy_from)
            found.push_back({"proxy-from", &*each.proxy_from});
    }
    return found;
}

std::vector<frontend_config const*> own_settings_of(config const& settings)
{
    std::vector<frontend_config const*> found;
    for (frontend_config const& each : settings.frontends) {
        found.push_back(&each);
        for (route_config const& route : each.routes)
            if (route.settings != nullptr)
                found.push_back(&route.settings->own);
    }
    return found;
}

namespace {

std::vector<named_path> paths_of(
    config const& settings, std::string_view key, setting<std::string> config::*global,
    optional_setting<std::string> frontend_config::*own)
{
    std::vector<named_path> found;
    auto const add = [&](setting<std::string> const& path) {
        if (!path->empty())
            found.push_back({key, &path});
    };
    add(settings.*global);
    for (frontend_config const* const each : own_settings_of(settings))
        if (each->*own)
            add(*(each->*own));
    return found;
}

} // namespace

std::vector<named_path> client_allow_files_of(config const& settings)
{
    return paths_of(
        settings, "client-allow-file", &config::client_allow_file,
        &frontend_config::client_allow_file);
}

std::vector<named_path> client_crls_of(config const& settings)
{
    return paths_of(
        settings, "client-verify-crl", &config::client_verify_crl,
        &frontend_config::client_verify_crl);
}

std::vector<named_path> upstream_files_of(config const& settings)
{
    std::vector<named_path> found;
    auto const add = [&](upstream_tls_config const& tls) {
        for (named_path const& file :
             {named_path{"tls-ca", &tls.ca}, named_path{"tls-cert", &tls.cert},
              named_path{"tls-key", &tls.key}})
            if (!(*file.path)->empty())
                found.push_back(file);
    };
    add(settings.backend_tls);
    for (upstream_config const& each : settings.upstreams)
        add(each.tls);
    return found;
}

access_log_target target_of_access_log(config const& settings) noexcept
{
    std::string const& text = *settings.access_log;
    if (text == "off")
        return access_log_target::off;
    if (text == "stdout")
        return access_log_target::standard_output;
    return text == "syslog" ? access_log_target::syslog : access_log_target::file;
}

} // namespace cleat::app
