#include "certificates/certificate_loading.hpp"
#include "config/problem_list.hpp"
#include "config/route_text.hpp"
#include "snapshot/admission_loading.hpp"
#include "snapshot/challenge_folder.hpp"
#include "snapshot/limit_planning.hpp"
#include "snapshot/memory_planning.hpp"
#include "snapshot/network_settings.hpp"
#include "snapshot/snapshot.hpp"
#include "snapshot/tls_planning.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/alpn.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

certificates_before known_before(predecessor const& before)
{
    if (before.configuration == nullptr)
        return {};
    certificate_catalog const& catalog = before.configuration->catalog;
    return {catalog.store ? &catalog : nullptr, before.configuration->watched, before.changed};
}

upstreams_before known_upstreams(predecessor const& before)
{
    if (before.configuration == nullptr)
        return {};
    return {before.configuration->upstreams, before.targets};
}

// Frontends with the same upstream share its plan.
class upstream_numbers
{
public:
    upstream_numbers(
        snapshot& made, config const& settings, predecessor const& before, certificate_files& files,
        problem_list& problems)
        : made_{made}, index_{settings}, before_{before}, files_{files}, problems_{problems}
    {
    }

    std::size_t find(std::string const& name)
    {
        auto const [known, is_new] = numbers_.try_emplace(name, made_.upstreams.size());
        if (is_new) {
            made_.upstreams.push_back(find_upstream(
                index_, name, made_.workers, known_upstreams(before_), files_, problems_));
            made_.upstreams.back().ports = ports_;
        }
        return known->second;
    }

private:
    snapshot& made_;
    upstream_index index_;
    predecessor const& before_;
    certificate_files& files_;
    problem_list& problems_;
    std::map<std::string, std::size_t> numbers_; // By name.
    std::optional<local_ports> ports_ = read_local_ports();
};

std::optional<route_plan> plan_routes(
    config const& settings, frontend_config const& l, upstream_numbers& upstreams)
{
    if (l.routes.empty())
        return {};
    route_plan made{route_table{rules_of(l)}, {}, tls::alpn_on_wire(*settings.alpn_protos)};
    for (route_config const& each : l.routes)
        made.routes.push_back(
            {.text = describe(each),
             .location = each.location,
             .upstream = upstreams.find(*each.upstream),
             .is_passthrough = *each.passthrough});
    return made;
}

void plan_upstreams(
    config const& settings, frontend_config const& l, upstream_numbers& numbers,
    std::vector<upstream_plan> const& upstreams, frontend_plan& p)
{
    p.upstream = numbers.find(*effective(l.upstream, settings.upstream));
    p.routes = plan_routes(settings, l, numbers);
    auto const speaks_tls = [&](std::size_t number) { return upstreams[number].tls.has_value(); };
    p.has_tls_upstream =
        speaks_tls(p.upstream) ||
        (p.routes && std::ranges::any_of(p.routes->routes, speaks_tls, &planned_route::upstream));
}

class loader
{
public:
    loader(
        loading& loaded, predecessor const& before, scan_observer const& observer,
        opener const& root_files)
        : made_{loaded.made}
        , before_{before}
        , settings_{loaded.made.settings}
        , problems_{loaded.problems}
        , certificates_{settings_, problems_, known_before(before), observer, root_files}
        , upstreams_{made_, settings_, before, certificates_.files(), problems_}
        , admissions_{settings_, problems_, root_files}
        , tls_{
              {settings_, made_.tls, made_.ends, made_.crl_ends, made_.tickets,
               before.configuration == nullptr ? nullptr : &before.configuration->tls},
              problems_, certificates_, root_files}
        , root_files_{root_files}
    {
    }

    void run()
    {
        certificates_.run(); // First: it begins to watch the files that are read from here on.
        made_.watched = certificates_.watched();
        made_.tickets = load_ticket_secrets(
            settings_, before_.configuration == nullptr ? nullptr : &before_.configuration->tickets,
            problems_, root_files_);
        for (frontend_config const& l : settings_.frontends)
            plan(l);
        plan_route_settings();
        tls_.prove_changed();
        made_.catalog = certificates_.take_catalog();
        made_.challenge_folder = find_challenge_folder(settings_, problems_, root_files_);
        made_.listen_options = listen_options_of(settings_);
        check_fast_open(settings_, problems_);
    }

private:
    void plan(frontend_config const& l)
    {
        frontend_plan p;
        p.name = to_string(l.address());
        p.location = l.location;
        p.addresses = find_addresses(l, problems_);
        plan_upstreams(settings_, l, upstreams_, made_.upstreams, p);
        p.admission = admissions_.find(l);
        p.takes_plaintext = takes_plaintext(settings_, l);
        if (p.takes_plaintext)
            tls_.add_unused(p.name);
        else
            tls_.add(p.name, l);
        made_.frontends.push_back(std::move(p));
    }

    // Behind the frontends, so that a frontend and its tls_plan have the same number.
    void plan_route_settings()
    {
        made_.announcements.push_back(announcement_rule_of(settings_));
        for (std::size_t i = 0; i < settings_.frontends.size(); ++i) {
            frontend_config const& l = settings_.frontends[i];
            for (std::size_t j = 0; j < l.routes.size(); ++j)
                plan_settings(i, l.routes[j], *made_.frontends[i].routes, j);
        }
    }

    void plan_settings(
        std::size_t frontend, route_config const& route, route_plan& plan, std::size_t number)
    {
        planned_route& made = plan.routes[number];
        made.tls = frontend;
        if (has_tls_settings(route) && !made_.frontends[frontend].takes_plaintext)
            made.tls = tls_.find_or_add(frontend, route);
        if (!header_settings_of(route).empty())
            made.announcement = find_announcement(announcement_rule_of(settings_, route));
        if (has_limits(route))
            made.limit = limited_routes_++; // As plan_limits counts them.
        plan.has_settings = plan.has_settings || made.tls != frontend || made.limit;
    }

    std::size_t find_announcement(announcement_rule const& rule)
    {
        auto const known = std::ranges::find(made_.announcements, rule);
        if (known != made_.announcements.end())
            return static_cast<std::size_t>(known - made_.announcements.begin());
        made_.announcements.push_back(rule);
        return made_.announcements.size() - 1;
    }

    snapshot& made_;
    predecessor const& before_;
    config const& settings_;
    problem_list problems_;
    certificate_loading certificates_;
    upstream_numbers upstreams_;
    admission_loading admissions_;
    tls_planning tls_;
    opener const& root_files_;
    std::size_t limited_routes_ = 0;
};

} // namespace

void find_ends(snapshot const& configuration, expiry_log::each_certificate const& use)
{
    for (auto const& [origin, end] : configuration.ends)
        use([&origin = origin] { return origin; }, end.valid);
    tls::certificate_store const* const store = configuration.catalog.store.get();
    if (store == nullptr)
        return;
    auto const soon = std::chrono::system_clock::now() + expires_soon + std::chrono::hours{1};
    store->for_each_ending_by(
        std::chrono::system_clock::to_time_t(soon), [&](tls::certificate_store::number i) {
            use([store, i] { return store->origin(i); }, validity_of(store->summary(i)));
        });
}

void drop_texts(snapshot& configuration) noexcept
{
    auto const drop = [](tls::context_spec& spec) {
        for (tls::certificate_source& each : spec.certificates)
            each.chain = each.private_key = {};
    };
    for (tls_plan& each : configuration.tls)
        drop(each.spec);
    for (upstream_plan& each : configuration.upstreams)
        if (each.tls)
            drop(each.tls->spec);
}

frontend_limit const& limit_of(snapshot const& configuration, frontend_plan const& plan) noexcept
{
    auto const number = static_cast<std::size_t>(&plan - configuration.frontends.data());
    return configuration.limits.frontends[number];
}

net::listen_options listen_options_of(snapshot const& configuration, frontend_plan const& plan)
{
    net::listen_options options = configuration.listen_options;
    // A client in plaintext may wait for the server to speak first.
    options.defer_accept = !plan.takes_plaintext;
    return options;
}

tls_plan const& tls_of(snapshot const& configuration, frontend_plan const& plan) noexcept
{
    return configuration.tls[static_cast<std::size_t>(&plan - configuration.frontends.data())];
}

std::size_t count_certificates(snapshot const& configuration)
{
    if (configuration.catalog.store)
        return configuration.catalog.store->size();
    std::set<std::string_view> origins;
    for (tls_plan const& plan : configuration.tls)
        for (tls::certificate_source const& each : plan.spec.certificates)
            origins.insert(each.origin);
    return origins.size();
}

loading load(
    config settings, predecessor const& before, scan_observer const& observer,
    opener const& root_files)
{
    loading l;
    l.made.settings = std::move(settings);
    l.made.workers = before.configuration == nullptr
                         ? net::worker_count(l.made.settings.workers->number)
                         : before.configuration->workers; // `auto` may find other CPUs now.
    loader{l, before, observer, root_files}.run();
    problem_list problems{l.problems};
    l.made.limits = plan_limits(
        l.made.settings, l.made.workers,
        before.configuration == nullptr ? nullptr : &before.configuration->limits, problems);
    l.made.memory_max = plan_memory(l.made.settings, problems);
    return l;
}

} // namespace cleat::app
