#include "config/table.hpp"
#include "reload/changes.hpp"
#include "reload/content_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace cleat::app {
namespace {

// The digest of each certificate's files, by their names.
using contents = std::unordered_map<std::string, tls::file_digest>;

contents certificates_of(snapshot const& configuration)
{
    contents found;
    for (auto const& [origin, known] : configuration.ends)
        found.emplace(origin, known.digest);
    tls::certificate_store const* const store = configuration.catalog.store.get();
    if (store != nullptr)
        store->for_each([&](tls::certificate_store::number each) {
            found.try_emplace(store->origin(each), store->summary(each).digest);
        });
    return found;
}

std::unordered_set<std::string> frontends_of(snapshot const& configuration)
{
    std::unordered_set<std::string> names;
    for (frontend_plan const& plan : configuration.frontends)
        names.insert(plan.name);
    return names;
}

// The upstream blocks by their names. The backend is a key of its own.
std::map<std::string_view, upstream_plan const*> upstreams_of(snapshot const& configuration)
{
    std::map<std::string_view, upstream_plan const*> found;
    for (upstream_plan const& each : configuration.upstreams)
        if (each.name != to_string(*configuration.settings.backend))
            found.emplace(each.name, &each);
    return found;
}

bool has_same_upstreams(snapshot const& before, snapshot const& after)
{
    return std::ranges::equal(
        upstreams_of(before), upstreams_of(after), [](auto const& one, auto const& other) {
            return one.first == other.first && is_configured_alike(*one.second, *other.second);
        });
}

// The settings of a route, in one text; empty where it has no settings of its own.
std::string describe_settings(snapshot const& configuration, planned_route const& route)
{
    std::string text;
    if (route.tls >= configuration.frontends.size()) {
        tls::context_spec const& spec = configuration.tls[route.tls].spec;
        text += fmt::format(
            "{} {} {} {} {} {} {} {} {}", static_cast<int>(spec.version_min),
            static_cast<int>(spec.version_max), spec.session_scope, spec.groups,
            spec.prefer_server_ciphers, static_cast<int>(spec.verify), spec.verify_origin,
            spec.verify_depth.value_or(-1), spec.verify_schemes);
    }
    if (route.announcement != 0) {
        announcement_rule const& rule = configuration.announcements[route.announcement];
        text += fmt::format(
            " {} {} {} {} {} {}", static_cast<int>(rule.way), rule.has_tls_facts,
            rule.has_server_name, rule.has_client_certificate, rule.has_checksum,
            static_cast<int>(rule.received));
    }
    if (route.limit) {
        frontend_limit const& limit = configuration.limits.routes[*route.limit];
        text += fmt::format(
            " {} {} {} {}", limit.connections, limit.clients.connections,
            limit.clients.handshake_rate, limit.clients.handshake_burst);
    }
    return text;
}

// Of each route its frontend, its conditions, its upstream and its settings.
std::vector<std::string> routes_of(snapshot const& configuration)
{
    std::vector<std::string> found;
    for (frontend_plan const& plan : configuration.frontends)
        if (plan.routes)
            for (planned_route const& each : plan.routes->routes)
                found.push_back(fmt::format(
                    "{} {} {} {}", plan.name, each.text,
                    configuration.upstreams[each.upstream].name,
                    describe_settings(configuration, each)));
    return found;
}

// The burst that is as much as the rate was not written.
std::uint32_t written_burst(client_limit const& limit) noexcept
{
    return limit.handshake_burst == limit.handshake_rate ? 0 : limit.handshake_burst;
}

// Calls `use` with each key of a limit that a frontend of both has with another value.
template <class Use>
void for_each_changed_limit(snapshot const& before, snapshot const& after, Use use)
{
    std::unordered_map<std::string_view, frontend_limit const*> old;
    for (frontend_limit const& each : before.limits.frontends)
        old.emplace(each.name, &each);
    for (frontend_limit const& each : after.limits.frontends) {
        auto const found = old.find(each.name);
        if (found == old.end())
            continue;
        frontend_limit const& then = *found->second;
        if (then.connections != each.connections)
            use("max-connections");
        if (then.clients.connections != each.clients.connections)
            use("client-max-connections");
        if (then.clients.handshake_rate != each.clients.handshake_rate)
            use("client-handshake-rate");
        if (written_burst(then.clients) != written_burst(each.clients))
            use("client-handshake-burst");
    }
}

std::unordered_set<std::string> plaintext_frontends_of(snapshot const& configuration)
{
    std::unordered_set<std::string> names;
    for (frontend_plan const& plan : configuration.frontends)
        if (plan.takes_plaintext)
            names.insert(plan.name);
    return names;
}

// How many of `some` are not in `others`.
template <class Set>
std::size_t count_missing(Set const& some, Set const& others)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(some, [&](auto const& each) { return !others.contains(each); }));
}

} // namespace

configuration_changes compare(snapshot const& before, snapshot const& after)
{
    configuration_changes found;
    for (key_row const& row : config_table())
        if (row.show != nullptr && row.show(before.settings) != row.show(after.settings))
            found.keys.emplace_back(row.name);

    auto const list = [&](std::string_view key) {
        if (std::ranges::find(found.keys, key) == found.keys.end())
            found.keys.emplace_back(key);
    };
    if (!has_same_upstreams(before, after))
        list("upstream");
    // The file may be the same, with other secrets in it.
    if (before.tickets.all != after.tickets.all ||
        before.tickets.ratchets != after.tickets.ratchets)
        list("ticket-secret");
    for (std::string_view const each : changed_contents(before, after))
        list(each);
    if (routes_of(before) != routes_of(after))
        list("route");
    if (plaintext_frontends_of(before) != plaintext_frontends_of(after))
        list("client");
    for_each_changed_limit(before, after, list);

    std::unordered_set<std::string> const old_frontends = frontends_of(before);
    std::unordered_set<std::string> const new_frontends = frontends_of(after);
    found.frontends_added = count_missing(new_frontends, old_frontends);
    found.frontends_removed = count_missing(old_frontends, new_frontends);

    if (std::optional<catalog_changes> const& known = after.catalog.changes) {
        found.certificates_added = known->added;
        found.certificates_removed = known->removed;
        found.certificates_changed = known->changed;
        found.certificates_skipped = known->skipped;
        return found;
    }
    contents const old_certificates = certificates_of(before);
    std::size_t in_both = 0;
    for (auto const& [origin, digest] : certificates_of(after)) {
        auto const old = old_certificates.find(origin);
        if (old == old_certificates.end()) {
            ++found.certificates_added;
            continue;
        }
        ++in_both;
        if (old->second != digest)
            ++found.certificates_changed;
    }
    found.certificates_removed = old_certificates.size() - in_both;
    return found;
}

} // namespace cleat::app
