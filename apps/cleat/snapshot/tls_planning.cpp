#include "certificates/compressors.hpp"
#include "snapshot/client_verification.hpp"
#include "snapshot/finding_place.hpp"
#include "snapshot/tls_planning.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_store.hpp>
#include <cleat/tls/store/certificate_table.hpp>
#include <cleat/tls/store/unserved.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace cleat::app {
namespace {

void fill_protocol(config const& settings, tls_scope const& l, tls::context_spec& spec)
{
    tls_versions const versions =
        *effective(l.own(&frontend_config::tls_protos), settings.tls_protos);
    using enum tls::protocol_version;
    spec.version_min = versions.tls_1_2 ? tls_1_2 : tls_1_3;
    spec.version_max = versions.tls_1_3 ? tls_1_3 : tls_1_2;
    spec.ciphers = *effective(l.own(&frontend_config::ciphers), settings.ciphers);
    spec.ciphersuites = *effective(l.own(&frontend_config::ciphersuites), settings.ciphersuites);
    // A frontend must not resume a session of another one whose suites it does not allow.
    spec.session_scope = fmt::format("cleat {} {}", spec.ciphers, spec.ciphersuites);
    spec.prefer_server_ciphers =
        *effective(l.own(&frontend_config::prefer_server_ciphers), settings.prefer_server_ciphers);
    spec.refuse_unknown_names =
        *effective(l.own(&frontend_config::sni_nomatch_abort), settings.sni_nomatch_abort);
    // The default list leaves out the groups that the library does not have, also where a file
    // has it that --default-config printed.
    std::string const& groups =
        *effective(l.own(&frontend_config::ecdh_curve), settings.ecdh_curve);
    bool const is_default = groups == *config{}.ecdh_curve;
    spec.groups = (is_default ? "?" : "") + groups;
    spec.alpn = *settings.alpn_protos;
    for (compression const each : *effective(
             l.own(&frontend_config::certificate_compression), settings.certificate_compression))
        spec.certificate_compressors.push_back(compressor_of(each));
}

void fill_tickets(config const& settings, planned_secrets const& secrets, tls::context_spec& spec)
{
    spec.ticket_rotation = *settings.ticket_epoch;
    spec.ticket_lifetime = *settings.ticket_lifetime;
    spec.session_ids = *settings.session_cache != 0;
    if (secrets.empty() || *settings.tickets == 0) // Empty: which has been reported.
        return;
    spec.ticket_counts = {
        static_cast<std::uint8_t>(*settings.tickets),
        static_cast<std::uint8_t>(*settings.tickets_resumed)};
    spec.ticket_ratchets.assign(secrets.ratchets.begin(), secrets.ratchets.end());
    if (secrets.all.empty())
        return;
    spec.tickets = secrets.all.front();
    spec.accepted_tickets.assign(secrets.all.begin() + 1, secrets.all.end());
}

// Where a certificate is named that has a rule of its own.
location place_of_rule(config const& settings, tls_scope const& l, std::string const& origin)
{
    for (std::vector<pem_file> const* pems : {&l.pem_files(), &settings.pem_files})
        for (pem_file const& pem : *pems)
            if (tls::origin_of({*pem.cert, *pem.private_key}) == origin)
                return pem.location;
    return l.place();
}

// A session of a client that got other certificates must not resume: another server's name may be
// in them. A renewed certificate has the same file.
std::string scope_text(std::vector<pem_file> const& pems)
{
    std::string text = " certificates";
    for (pem_file const& each : pems)
        text += " " + tls::origin_of({*each.cert, *each.private_key});
    return text;
}

// Whether the clients of both get the same: two plans of one configuration. session_scope has the
// certificates of a route's own.
bool serves_alike(tls_plan const& one, tls_plan const& other)
{
    return one.frontend == other.frontend && is_same_policy(one.spec, other.spec) &&
           one.client_rules == other.client_rules && one.certificates == other.certificates &&
           one.clients == other.clients;
}

// Of the settings that two plans of one frontend may differ in.
class plan_hash
{
public:
    template <class T>
    void add(T const& value) noexcept
    {
        constexpr std::size_t odd = 0x9e37'79b9'7f4a'7c15U; // 2 to the 64th, by the golden ratio.
        hash_ = (hash_ ^ std::hash<T>{}(value)) * odd;
    }

    [[nodiscard]] std::size_t value() const noexcept { return hash_ ^ (hash_ >> 32U); }

private:
    std::size_t hash_ = 0;
};

// Equal for plans of one frontend with the same policy.
plan_hash policy_hash(tls_plan const& plan) noexcept
{
    tls::context_spec const& spec = plan.spec;
    plan_hash made;
    made.add(plan.frontend);
    made.add(spec.version_min);
    made.add(spec.version_max);
    made.add(spec.session_scope); // It has the suites, and the names of certificates.
    made.add(spec.groups);
    made.add(spec.prefer_server_ciphers);
    for (tls::certificate_compressor const& each : spec.certificate_compressors)
        made.add(each.algorithm);
    made.add(spec.verify);
    made.add(spec.verify_origin);
    made.add(spec.verify_schemes);
    made.add(spec.verify_depth.value_or(0));
    made.add(spec.accept_stale_crls);
    for (tls::crl_source const& each : spec.verify_crls)
        made.add(each.origin);
    return made;
}

// Equal for plans that serve alike.
std::size_t serving_hash(tls_plan const& plan) noexcept
{
    plan_hash made = policy_hash(plan);
    made.add(plan.clients.get());
    made.add(plan.certificates);
    return made.value();
}

} // namespace

tls_planning::tls_planning(
    planned_tls const& made, problem_list& problems, certificate_loading& certificates,
    opener const& root_files)
    : made_{made}
    , settings_{made.settings}
    , problems_{problems}
    , certificates_{certificates}
    , client_rules_{settings_, problems, root_files}
    , root_files_{root_files}
{
    if (made_.before != nullptr)
        for (std::size_t i = 0; i < made_.before->size(); ++i)
            if (tls_plan const& each = (*made_.before)[i]; each.certificates != nullptr)
                of_before_.emplace(policy_hash(each).value(), i);
}

void tls_planning::add(std::string const& name, frontend_config const& frontend)
{
    tls_plan made = plan(name, frontend);
    made.certificates = certificates_.assign(frontend, made.spec);
    append(frontend, std::move(made));
}

void tls_planning::add_unused(std::string const& name)
{
    tls_plan& made = made_.plans.emplace_back(tls_plan{.frontend = name});
    made.spec.role = tls::role::client; // It needs no certificate.
}

std::size_t tls_planning::find_or_add(std::size_t frontend, route_config const& route)
{
    tls_plan const& outer = made_.plans[frontend];
    tls_scope const scope{settings_.frontends[frontend], route};
    tls_plan made = plan(outer.frontend, scope);
    bool const has_own = !route.settings->own.pem_files.empty();
    if (has_own) {
        made.certificates = certificates_.assign(scope, made.spec);
        made.spec.session_scope += scope_text(scope.pem_files());
    } else {
        made.certificates = outer.certificates;
    }
    if (serves_alike(outer, made))
        return frontend;
    std::size_t const hash = serving_hash(made);
    auto const [first, last] = of_routes_.equal_range(hash);
    for (auto each = first; each != last; ++each)
        if (serves_alike(made_.plans[each->second], made))
            return each->second;
    if (!has_own) {
        made.spec.certificates = outer.spec.certificates;
        for (tls::certificate_source& each : made.spec.certificates)
            each.clients.reset();
    }
    scopes_.push_back(scope);
    append(scope, std::move(made));
    of_routes_.emplace(hash, made_.plans.size() - 1);
    return made_.plans.size() - 1;
}

// Without certificates.
tls_plan tls_planning::plan(std::string const& name, tls_scope const& scope)
{
    tls_plan made{.frontend = name};
    made.clients = client_rules_.find(scope);
    fill_tickets(settings_, made_.tickets, made.spec);
    fill_protocol(settings_, scope, made.spec);
    client_verification const verification{settings_, scope, certificates_.files()};
    verification.fill(made.spec, problems_, root_files_);
    made.client_rules = verification.own_rules();
    return made;
}

void tls_planning::append(tls_scope const& scope, tls_plan p)
{
    note_crls(p.spec);
    use_client_rules(scope, p);
    if (certificates_.has_catalog()) {
        p.same_contexts = find_same_contexts(p);
        if (p.same_contexts)
            p.unusable_types = (*made_.before)[*p.same_contexts].unusable_types;
        else
            try_out_catalog(scope, p);
    } else {
        try_out(scope, p);
    }
    made_.plans.push_back(std::move(p));
}

// The scope that a tls_plan was made of.
tls_scope tls_planning::scope_of_plan(std::size_t number) const
{
    std::size_t const frontends = settings_.frontends.size();
    return number < frontends ? tls_scope{settings_.frontends[number]}
                              : scopes_[number - frontends];
}

void tls_planning::use_client_rules(tls_scope const& l, tls_plan& p)
{
    for (tls::certificate_source& each : p.spec.certificates)
        if (auto const found = p.client_rules.find(each.origin); found != p.client_rules.end())
            each.clients = found->second;
    // 0: `cleat explain` has asked for a catalog.
    if (p.client_rules.empty() || !certificates_.has_catalog() || *settings_.certificate_cache == 0)
        return;
    std::string const& origin = p.client_rules.begin()->first;
    problems_.error(
        place_of_rule(settings_, l, origin), "client-verify",
        fmt::format(
            "the rule that {} has for its clients needs all certificates in memory", origin),
        fmt::format(
            "{}; or give the certificate a frontend of its own, with the rule.",
            how_to_load_all(settings_, *certificates_.catalog().store)));
}

void tls_planning::try_out(tls_scope const& l, tls_plan const& p)
{
    if (p.spec.certificates.empty()) {
        if (!problems_.has_errors())
            problems_.error(
                l.place(), "pem-file", fmt::format("{} has no certificate", p.frontend),
                "Name a PEM file with a certificate and its key: cleat ... site.pem");
        return report_mistakes(l, tls::find_settings_mistakes(p.spec));
    }
    try {
        tls::context const context{p.spec};
        report_warnings(l, context);
        for (std::size_t i = 0; i < context.certificate_ends().size(); ++i)
            note_end(p.spec.certificates[i], context, i);
    } catch (tls::spec_error const&) {
        report_mistakes(l, tls::find_mistakes(p.spec));
    }
}

// One of the configuration before with the same settings, the same default certificate and all
// types of keys.
std::optional<std::size_t> tls_planning::find_same_contexts(tls_plan const& p) const
{
    if (made_.before == nullptr || problems_.has_errors())
        return {};
    auto const [first, last] = of_before_.equal_range(policy_hash(p).value());
    for (auto each = first; each != last; ++each) {
        tls_plan const& plan = (*made_.before)[each->second];
        if (plan.frontend == p.frontend && is_same_policy(plan.spec, p.spec) &&
            p.certificates->can_follow(*plan.certificates))
            return each->second;
    }
    return {};
}

// A certificate that no client can use is a warning, as at the start: others may serve its
// names. A certificate that replaces one with another type of key is an error then.
void tls_planning::prove_changed()
{
    if (problems_.has_errors() || !certificates_.catalog().changes)
        return;
    std::size_t left = limits::certificates_proved_max;
    for (std::size_t i = 0; i < made_.plans.size(); ++i) {
        tls_plan const& plan = made_.plans[i];
        std::optional<tls::certificate_proof> proof;
        for (catalog_changes::entry const& each : certificates_.catalog().changes->entries) {
            if (plan.certificates == nullptr || !plan.certificates->serves(*each.set) || left == 0)
                continue;
            --left;
            if (!proof)
                proof.emplace(plan.spec);
            prove(*proof, scope_of_plan(i), each);
        }
        refuse_unserved(scope_of_plan(i), plan);
    }
}

void tls_planning::prove(
    tls::certificate_proof& proof, tls_scope const& l, catalog_changes::entry const& changed)
{
    try {
        std::vector<std::string> warnings;
        bool const is_good =
            proof.try_out(*certificates_.catalog().store, changed.certificate, warnings);
        for (std::string const& each : warnings) {
            finding_place const found = place_of_finding(settings_, l, certificates_.files(), each);
            if (is_good || !changed.has_other_type)
                problems_.warning(found.where, found.key, found.text);
            else
                problems_.error(found.where, found.key, found.text, "");
        }
    } catch (tls::spec_error const& wrong) {
        problems_.error(l.place(), "", wrong.what(), "");
    }
}

// Also where the certificates that could be used are gone.
void tls_planning::refuse_unserved(tls_scope const& l, tls_plan const& plan)
{
    if (plan.certificates == nullptr)
        return;
    try {
        tls::refuse_unserved(*plan.certificates, plan.unusable_types, plan.spec, [&](auto each) {
            return certificates_.catalog().store->origin(each);
        });
    } catch (tls::spec_error const& unserved) {
        report_mistakes(l, {unserved.what()});
    }
}

// A certificate that cannot be used has been reported already. Without the default one there is
// no context to try.
void tls_planning::try_out_catalog(tls_scope const& l, tls_plan& p)
{
    if (p.certificates->defaults().empty() || !certificates_.catalog().is_complete)
        return report_mistakes(l, tls::find_settings_mistakes(p.spec));
    tls::certificate_table loaded{1};
    try {
        tls::context const context{p.spec, *p.certificates, loaded};
        report_warnings(l, context);
        p.unusable_types = context.unusable_types();
    } catch (tls::spec_error const&) {
        report_mistakes(l, tls::find_mistakes(p.spec, *p.certificates, loaded));
    }
}

void tls_planning::report_warnings(tls_scope const& l, tls::context const& context)
{
    for (std::string const& finding : context.warnings()) {
        finding_place const found = place_of_finding(settings_, l, certificates_.files(), finding);
        problems_.warning(found.where, found.key, found.text);
    }
}

void tls_planning::report_mistakes(tls_scope const& l, std::vector<std::string> const& mistakes)
{
    for (std::string const& mistake : mistakes) {
        finding_place const found = place_of_finding(settings_, l, certificates_.files(), mistake);
        problems_.error(found.where, found.key, found.text, "");
    }
}

// Several frontends and routes may have the same file, which is read once.
void tls_planning::note_crls(tls::context_spec const& spec)
{
    for (tls::crl_source const& each : spec.verify_crls) {
        if (!known_crls_.emplace(each.origin, spec.accept_stale_crls).second)
            continue;
        for (tls::crl_end& end : tls::find_crl_ends(each))
            made_.crl_ends.push_back({std::move(end), spec.accept_stale_crls});
    }
}

void tls_planning::note_end(
    tls::certificate_source const& source, tls::context const& context, std::size_t place)
{
    if (!library_)
        library_.emplace();
    tls::certificate_end const& end = context.certificate_ends()[place];
    std::vector<std::string> names = context.certificate_names(place);
    std::size_t const count = names.size();
    names.resize(std::min(count, limits::admin_names_max));
    made_.ends.insert_or_assign(
        end.origin, certificate_ending{
                        {end.valid_until, end.lifetime},
                        tls::source_digest(*library_, source),
                        std::move(names),
                        count});
}

} // namespace cleat::app
