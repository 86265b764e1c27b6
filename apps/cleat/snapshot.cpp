#include "acme/challenge_folder.hpp"
#include "admission/admission_loading.hpp"
#include "certificate_loading.hpp"
#include "client_verification.hpp"
#include "compressors.hpp"
#include "config/problem_list.hpp"
#include "config/route_text.hpp"
#include "finding_place.hpp"
#include "limits/limit_planning.hpp"
#include "network_settings.hpp"
#include "snapshot.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/alpn.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_proof.hpp>
#include <cleat/tls/store/certificate_store.hpp>
#include <cleat/tls/store/certificate_table.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

void fill_protocol(config const& settings, frontend_config const& l, tls::context_spec& spec)
{
    tls_versions const versions = *effective(l.tls_protos, settings.tls_protos);
    using enum tls::protocol_version;
    spec.version_min = versions.tls_1_2 ? tls_1_2 : tls_1_3;
    spec.version_max = versions.tls_1_3 ? tls_1_3 : tls_1_2;
    spec.ciphers = *effective(l.ciphers, settings.ciphers);
    spec.ciphersuites = *effective(l.ciphersuites, settings.ciphersuites);
    // A frontend must not resume a session of another one whose suites it does not allow.
    spec.session_scope = fmt::format("cleat {} {}", spec.ciphers, spec.ciphersuites);
    spec.prefer_server_ciphers =
        *effective(l.prefer_server_ciphers, settings.prefer_server_ciphers);
    spec.refuse_unknown_names = *effective(l.sni_nomatch_abort, settings.sni_nomatch_abort);
    // The default list leaves out the groups that the library does not have, also where a file
    // has it that --default-config printed.
    bool const is_default = *settings.ecdh_curve == *config{}.ecdh_curve;
    spec.groups = (is_default ? "?" : "") + *settings.ecdh_curve;
    spec.alpn = *settings.alpn_protos;
    for (compression const each :
         *effective(l.certificate_compression, settings.certificate_compression))
        spec.certificate_compressors.push_back(compressor_of(each));
}

certificates_before known_before(predecessor const& before)
{
    if (before.configuration == nullptr)
        return {};
    certificate_catalog const& catalog = before.configuration->catalog;
    return {catalog.store ? &catalog : nullptr, before.configuration->watched, before.changed};
}

// Null where there is none, which has been reported.
std::shared_ptr<tls::ticket_secret const> make_ticket_secret(problem_list& problems)
{
    try {
        return tls::new_ticket_secret();
    } catch (std::system_error const& e) {
        problems.error(
            {}, "",
            fmt::format(
                "the kernel gives no random bytes for session tickets: {}", e.code().message()),
            "Allow the system call getrandom(2), which a sandbox may forbid.");
    }
    return nullptr;
}

// Frontends with the same upstream share its plan.
class upstream_numbers
{
public:
    upstream_numbers(
        snapshot& made, config const& settings, snapshot const* before, certificate_files& files,
        problem_list& problems)
        : made_{made}, settings_{settings}, before_{before}, files_{files}, problems_{problems}
    {
    }

    std::size_t find(std::string const& name)
    {
        auto const [known, is_new] = numbers_.try_emplace(name, made_.upstreams.size());
        if (is_new)
            made_.upstreams.push_back(find_upstream(
                settings_, name, made_.workers, upstreams_before(), files_, problems_));
        return known->second;
    }

private:
    [[nodiscard]] std::span<upstream_plan const> upstreams_before() const noexcept
    {
        if (before_ == nullptr)
            return {};
        return before_->upstreams;
    }

    snapshot& made_;
    config const& settings_;
    snapshot const* before_;
    certificate_files& files_;
    problem_list& problems_;
    std::map<std::string, std::size_t> numbers_; // By name.
};

std::optional<route_plan> plan_routes(
    config const& settings, frontend_config const& l, upstream_numbers& upstreams)
{
    if (l.routes.empty())
        return {};
    route_plan made{route_table{rules_of(l)}, {}, tls::alpn_on_wire(*settings.alpn_protos)};
    for (route_config const& each : l.routes)
        made.routes.push_back(
            {describe(each), each.location, upstreams.find(*each.upstream), *each.passthrough});
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

void note_end(snapshot& made, tls::context const& context, std::size_t place)
{
    tls::certificate_end const& end = context.certificate_ends()[place];
    std::vector<std::string> names = context.certificate_names(place);
    std::size_t const count = names.size();
    names.resize(std::min(count, limits::admin_names_max));
    made.ends.insert_or_assign(
        end.origin, certificate_ending{end.valid_until, std::move(names), count});
}

// Where a certificate is named that has a rule of its own.
location place_of_rule(config const& settings, frontend_config const& l, std::string const& origin)
{
    for (std::vector<pem_file> const* pems : {&l.pem_files, &settings.pem_files})
        for (pem_file const& pem : *pems)
            if (tls::origin_of({*pem.cert, *pem.private_key}) == origin)
                return pem.location;
    return l.location;
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
        , upstreams_{made_, settings_, before.configuration, certificates_.files(), problems_}
        , admissions_{settings_, problems_, root_files}
        , client_rules_{settings_, problems_, root_files}
        , root_files_{root_files}
    {
    }

    void run()
    {
        made_.tickets = before_.configuration == nullptr ? make_ticket_secret(problems_)
                                                         : before_.configuration->tickets;
        certificates_.run();
        made_.watched = certificates_.watched();
        for (frontend_config const& l : settings_.frontends)
            plan(l);
        prove_changed();
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
            p.tls.role = tls::role::client;
        else
            plan_tls(l, p);
        made_.frontends.push_back(std::move(p));
    }

    void plan_tls(frontend_config const& l, frontend_plan& p)
    {
        p.clients = client_rules_.find(l);
        tls::context_spec& spec = p.tls;
        spec.tickets = made_.tickets;
        fill_protocol(settings_, l, spec);
        client_verification const verification{settings_, l, certificates_.files()};
        verification.fill(spec, problems_, root_files_);
        note_crls(spec);
        p.certificates = certificates_.assign(l, spec);
        p.client_rules = verification.own_rules();
        use_client_rules(l, p);
        if (certificates_.has_catalog()) {
            p.same_contexts = find_same_contexts(p);
            if (!p.same_contexts)
                try_out_catalog(l, p);
        } else {
            try_out(l, p);
        }
    }

    // Several frontends may have the same file, which is read once.
    void note_crls(tls::context_spec const& spec)
    {
        for (tls::crl_source const& each : spec.verify_crls) {
            if (!known_crls_.emplace(each.origin, spec.accept_stale_crls).second)
                continue;
            for (tls::crl_end& end : tls::find_crl_ends(each))
                made_.crl_ends.push_back({std::move(end), spec.accept_stale_crls});
        }
    }

    void use_client_rules(frontend_config const& l, frontend_plan& p)
    {
        for (tls::certificate_source& each : p.tls.certificates)
            if (auto const found = p.client_rules.find(each.origin); found != p.client_rules.end())
                each.clients = found->second;
        // 0: the catalog is there to be explained.
        if (p.client_rules.empty() || !certificates_.has_catalog() ||
            *settings_.certificate_cache == 0)
            return;
        std::string const& origin = p.client_rules.begin()->first;
        problems_.error(
            place_of_rule(settings_, l, origin), "client-verify",
            fmt::format(
                "the rule that {} has for its clients needs all certificates in memory", origin),
            fmt::format(
                "{}; or give the certificate a frontend of its own, with the rule.",
                how_to_load_all(settings_, certificates_.catalog().store->size())));
    }

    void try_out(frontend_config const& l, frontend_plan const& p)
    {
        if (p.tls.certificates.empty()) {
            if (!problems_.has_errors())
                problems_.error(
                    l.location, "pem-file", fmt::format("{} has no certificate", p.name),
                    "Name a PEM file with a certificate and its key: cleat ... site.pem");
            return;
        }
        try {
            tls::context const context{p.tls};
            report_warnings(l, context);
            for (std::size_t i = 0; i < context.certificate_ends().size(); ++i)
                note_end(made_, context, i);
        } catch (tls::spec_error const&) {
            report_mistakes(l, tls::find_mistakes(p.tls));
        }
    }

    // A frontend of the configuration before with the same settings, the same default certificate
    // and all types of keys.
    [[nodiscard]] std::optional<std::size_t> find_same_contexts(frontend_plan const& p) const
    {
        if (before_.configuration == nullptr || problems_.has_errors())
            return {};
        std::vector<frontend_plan> const& all = before_.configuration->frontends;
        auto const found = std::ranges::find_if(all, [&](frontend_plan const& each) {
            return each.name == p.name && each.certificates != nullptr &&
                   is_same_policy(each.tls, p.tls) &&
                   p.certificates->can_follow(*each.certificates);
        });
        return found == all.end() ? std::nullopt
                                  : std::optional{static_cast<std::size_t>(found - all.begin())};
    }

    // A certificate that no client can use is a warning, as at the start: others may serve its
    // names. A certificate that replaces one with another type of key is an error then.
    void prove_changed()
    {
        if (problems_.has_errors() || !certificates_.catalog().changes)
            return;
        std::size_t left = limits::certificates_proved_max;
        for (std::size_t i = 0; i < made_.frontends.size(); ++i) {
            frontend_plan const& plan = made_.frontends[i];
            std::optional<tls::certificate_proof> proof;
            for (catalog_changes::entry const& each : certificates_.catalog().changes->entries) {
                if (plan.takes_plaintext || !plan.certificates->serves(*each.set) || left == 0)
                    continue;
                --left;
                if (!proof)
                    proof.emplace(plan.tls);
                prove(*proof, settings_.frontends[i], each);
            }
        }
    }

    void prove(
        tls::certificate_proof& proof, frontend_config const& l,
        catalog_changes::entry const& changed)
    {
        try {
            std::vector<std::string> warnings;
            bool const is_good =
                proof.try_out(*certificates_.catalog().store, changed.certificate, warnings);
            for (std::string const& each : warnings) {
                finding_place const found =
                    place_of_finding(settings_, l, certificates_.files(), each);
                if (is_good || !changed.has_other_type)
                    problems_.warning(found.where, found.key, found.text);
                else
                    problems_.error(found.where, found.key, found.text, "");
            }
        } catch (tls::spec_error const& wrong) {
            problems_.error(l.location, "", wrong.what(), "");
        }
    }

    // A certificate that cannot be used has been reported already. Without the default one there is
    // no context to try.
    void try_out_catalog(frontend_config const& l, frontend_plan const& p)
    {
        if (p.certificates->defaults().empty() || !certificates_.catalog().is_complete)
            return;
        tls::certificate_table loaded{1};
        try {
            report_warnings(l, tls::context{p.tls, *p.certificates, loaded});
        } catch (tls::spec_error const&) {
            report_mistakes(l, tls::find_mistakes(p.tls, *p.certificates, loaded));
        }
    }

    void report_warnings(frontend_config const& l, tls::context const& context)
    {
        for (std::string const& finding : context.warnings()) {
            finding_place const found =
                place_of_finding(settings_, l, certificates_.files(), finding);
            problems_.warning(found.where, found.key, found.text);
        }
    }

    void report_mistakes(frontend_config const& l, std::vector<std::string> const& mistakes)
    {
        for (std::string const& mistake : mistakes) {
            finding_place const found =
                place_of_finding(settings_, l, certificates_.files(), mistake);
            problems_.error(found.where, found.key, found.text, "");
        }
    }

    snapshot& made_;
    predecessor const& before_;
    config const& settings_;
    problem_list problems_;
    certificate_loading certificates_;
    upstream_numbers upstreams_;
    admission_loading admissions_;
    client_rules_loading client_rules_;
    opener const& root_files_;
    std::set<std::pair<std::string, bool>> known_crls_; // Files, and whether they may be stale.
};

} // namespace

void find_ends(snapshot const& configuration, expiry_log::each_certificate const& use)
{
    for (auto const& [origin, end] : configuration.ends)
        use([&origin = origin] { return origin; }, end.valid_until);
    tls::certificate_store const* const store = configuration.catalog.store.get();
    if (store == nullptr)
        return;
    auto const soon = std::chrono::system_clock::now() + expires_soon + std::chrono::hours{1};
    store->for_each_ending_by(
        std::chrono::system_clock::to_time_t(soon), [&](tls::certificate_store::number i) {
            use([store, i] { return store->origin(i); },
                std::chrono::sys_seconds{std::chrono::seconds{store->summary(i).valid_until}});
        });
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

std::size_t count_certificates(snapshot const& configuration)
{
    if (configuration.catalog.store)
        return configuration.catalog.store->size();
    std::set<std::string_view> origins;
    for (frontend_plan const& plan : configuration.frontends)
        for (tls::certificate_source const& each : plan.tls.certificates)
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
    return l;
}

} // namespace cleat::app
