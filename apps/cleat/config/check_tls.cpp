#include "config/check_client_mode.hpp"
#include "config/check_tls.hpp"
#include "config/route_settings.hpp"
#include "config/tls_scope.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

using tls_scopes = std::vector<tls_scope>;

void refuse_setting(
    std::vector<problem>& problems, location const& where, std::string_view key, std::string text,
    std::string cure)
{
    problems.push_back(
        {problem::severity::error, where, std::string{key}, std::move(text), std::move(cure),
         true});
}

// used_places are the places where settings of one key were written. A setting that takes effect in
// none of the scopes that have it, which are a frontend and its routes, is a mistake.
class used_places
{
public:
    void note(location const& where, bool is_used)
    {
        auto const [known, is_new] = numbers_.try_emplace(&where, places_.size());
        if (is_new)
            places_.emplace_back(&where, is_used);
        else
            places_[known->second].second |= is_used;
    }

    template <class Use>
    void for_each_unused(Use use) const
    {
        for (auto const& [where, is_used] : places_)
            if (!is_used)
                use(*where);
    }

private:
    std::vector<std::pair<location const*, bool>> places_;
    std::unordered_map<location const*, std::size_t> numbers_; // In places_.
};

constexpr std::string_view needs_authorities =
    "clients cannot be verified without client-verify-ca";
constexpr std::string_view name_authorities =
    "Set client-verify-ca to the file of the authorities that may sign clients' certificates.";
constexpr std::string_view verifies_nobody =
    "this verifies nobody: client-verify is not set, so no client is asked for a certificate";
constexpr std::string_view ask_clients = "Set client-verify to optional or required; or write "
                                         "client-verify = none, to keep this for later.";

// A certificate's own rule. The frontend's completes it.
void check_own_rule(
    pem_file const& pem, setting<client_verify> const& frontend_mode,
    setting<std::string> const& frontend_ca, std::vector<problem>& problems)
{
    setting<client_verify> const& mode = effective(pem.client_verify, frontend_mode);
    setting<std::string> const& ca = effective(pem.client_verify_ca, frontend_ca);
    if (pem.client_verify && *mode != client_verify::none && ca->empty())
        refuse_setting(
            problems, mode.location, "client-verify", std::string{needs_authorities},
            std::string{name_authorities});
    if (pem.client_verify_ca && !ca->empty() && mode.location.is_built_in())
        refuse_setting(
            problems, ca.location, "client-verify-ca", std::string{verifies_nobody},
            std::string{ask_clients});
}

// Whether one of the certificates has a rule that takes its authorities from its frontend.
bool borrows_authorities(std::vector<pem_file> const& pems)
{
    return std::ranges::any_of(pems, [](pem_file const& pem) {
        return pem.client_verify && **pem.client_verify != client_verify::none &&
               !pem.client_verify_ca;
    });
}

// Authorities without client-verify are a mistake: no client is asked for a certificate. With
// `client-verify = none` they are no mistake: verification was turned off, and may be turned on
// again.
void check_authorities_have_effect(
    config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    auto const refuse = [&](location const& where) {
        refuse_setting(
            problems, where, "client-verify-ca", std::string{verifies_nobody},
            std::string{ask_clients});
    };
    bool global_is_used = !c.client_verify.location.is_built_in();
    used_places own;
    for (tls_scope const& each : scopes) {
        if (takes_plaintext(c, each.frontend()))
            continue;
        bool const borrows = borrows_authorities(each.pem_files()) ||
                             (each.uses_global_certs() && borrows_authorities(c.pem_files));
        optional_setting<client_verify> const& mode = each.own(&frontend_config::client_verify);
        optional_setting<std::string> const& ca = each.own(&frontend_config::client_verify_ca);
        bool const verifies = borrows || (mode && **mode != client_verify::none);
        global_is_used |= verifies && !ca;
        bool const is_set = borrows || mode || !c.client_verify.location.is_built_in();
        if (ca && !(**ca).empty())
            own.note(ca->location, is_set);
    }
    own.for_each_unused(refuse);
    if (!c.client_verify_ca->empty() && !global_is_used)
        refuse(c.client_verify_ca.location);
}

void check_client_verify(config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    check_authorities_have_effect(c, scopes, problems);
    bool global_is_reported = false; // A mistake that several frontends inherit is reported once.
    std::vector<problem> of_pems;
    for (tls_scope const& each : scopes) {
        if (takes_plaintext(c, each.frontend()))
            continue;
        setting<client_verify> const& mode =
            effective(each.own(&frontend_config::client_verify), c.client_verify);
        setting<std::string> const& ca =
            effective(each.own(&frontend_config::client_verify_ca), c.client_verify_ca);
        if (*mode != client_verify::none && ca->empty()) {
            bool const is_global = !each.own(&frontend_config::client_verify);
            if (!is_global || !std::exchange(global_is_reported, true))
                refuse_setting(
                    problems, mode.location, "client-verify", std::string{needs_authorities},
                    std::string{name_authorities});
            continue;
        }
        if (each.uses_global_certs())
            for (pem_file const& pem : c.pem_files)
                check_own_rule(pem, mode, ca, of_pems);
        for (pem_file const& pem : each.pem_files())
            check_own_rule(pem, mode, ca, of_pems);
    }
    std::set<std::string> known;
    for (problem const& each : problems)
        known.insert(to_string(each.where));
    for (problem& each : of_pems) // Likewise.
        if (known.insert(to_string(each.where)).second)
            problems.push_back(std::move(each));
}

// Whether any client is asked for a certificate.
bool any_asks_clients(config const& c, tls_scopes const& scopes)
{
    return std::ranges::any_of(
        scopes, [&](tls_scope const& each) { return asks_clients(c, each); });
}

// A setting for clients' certificates: whether it is set, and where.
struct certificate_key
{
    std::string_view key;
    location const* (*global)(config const&);
    location const* (*own)(tls_scope const&);
};

template <auto Member>
location const* place_of(config const& c)
{
    // The default is no mistake: `cleat --default-config` writes it.
    return *(c.*Member) == *(config{}.*Member) ? nullptr : &(c.*Member).location;
}

template <auto Member>
location const* place_of(tls_scope const& scope)
{
    auto const& own = scope.own(Member);
    return own ? &own->location : nullptr;
}

location const* first_of(std::vector<allow_config> const& rules)
{
    return rules.empty() ? nullptr : &rules.front().location;
}

location const* place_of_rules(config const& c)
{
    return first_of(c.certificate_rules);
}

location const* place_of_rules(tls_scope const& scope)
{
    return first_of(scope.certificate_rules());
}

constexpr std::array<certificate_key, 6> client_keys{{
    {"client-verify-sigalgs", place_of<&config::client_verify_sigalgs>,
     place_of<&frontend_config::client_verify_sigalgs>},
    {"client-verify-depth", place_of<&config::client_verify_depth>,
     place_of<&frontend_config::client_verify_depth>},
    {"client-verify-crl", place_of<&config::client_verify_crl>,
     place_of<&frontend_config::client_verify_crl>},
    {"client-verify-crl-stale", place_of<&config::client_verify_crl_stale>,
     place_of<&frontend_config::client_verify_crl_stale>},
    {"client-allow", place_of_rules, place_of_rules},
    {"client-allow-file", place_of<&config::client_allow_file>,
     place_of<&frontend_config::client_allow_file>},
}};

// Settings for clients' certificates are mistakes where no client is asked for one. Where
// client-verify is turned off by name, they are kept for later.
void check_client_keys(config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    for (certificate_key const& each : client_keys) {
        auto const refuse = [&](location const& where) {
            refuse_setting(
                problems, where, each.key,
                "no client is asked for a certificate: client-verify is none",
                "Set client-verify to optional or required, or leave this out.");
        };
        bool global_is_used = !c.client_verify.location.is_built_in();
        used_places found;
        for (tls_scope const& scope : scopes) {
            if (takes_plaintext(c, scope.frontend()))
                continue;
            bool const asks = asks_clients(c, scope);
            location const* const own = each.own(scope);
            global_is_used |= asks && own == nullptr;
            bool const is_off = scope.own(&frontend_config::client_verify) ||
                                !c.client_verify.location.is_built_in();
            if (own != nullptr)
                found.note(*own, asks || is_off);
        }
        found.for_each_unused(refuse);
        if (location const* const where = each.global(c); where != nullptr && !global_is_used)
            refuse(*where);
    }
}

void check_stale_crls(config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    auto const refuse = [&](location const& where) {
        refuse_setting(
            problems, where, "client-verify-crl-stale",
            "there is no CRL: client-verify-crl is not set", "Set it, or leave this out.");
    };
    used_places found;
    for (tls_scope const& each : scopes) {
        setting<std::string> const& crl =
            effective(each.own(&frontend_config::client_verify_crl), c.client_verify_crl);
        if (location const* const where = place_of<&frontend_config::client_verify_crl_stale>(each))
            found.note(*where, !crl->empty());
    }
    found.for_each_unused(refuse);
    // The default is no mistake: `cleat --default-config` writes it.
    if (*c.client_verify_crl_stale != stale_crls::refuse && client_crls_of(c).empty())
        refuse(c.client_verify_crl_stale.location);
}

void check_allow_rules(std::vector<allow_config> const& rules, std::vector<problem>& problems)
{
    for (allow_config const& each : rules)
        if (each.conditions.empty())
            refuse_setting(
                problems, each.location, "client-allow",
                "this rule asks for nothing, so every certificate would meet it",
                "Add a condition, such as uri = \"spiffe://example.org/web\", or leave it out.");
}

void check_proxy_client_cert(
    config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    if (!*c.proxy_client_cert)
        return;
    auto const refuse = [&](std::string text, std::string cure) {
        refuse_setting(
            problems, c.proxy_client_cert.location, "proxy-client-cert", std::move(text),
            std::move(cure));
    };
    if (!gets_proxy_v2(c))
        refuse(
            "this is a part of the header of write-proxy-v2, which is off",
            "Turn write-proxy-v2 on, or leave this out.");
    else if (!any_asks_clients(c, scopes))
        refuse(
            "no client is asked for a certificate: client-verify is none",
            "Set client-verify to optional or required, or leave this out.");
}

// Cipher suites of a TLS version that no frontend with these suites speaks are a mistake. The
// default list is none: a file that --default-config printed has it.
void check_suites_have_effect(
    config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    struct suites
    {
        std::string_view key;
        setting<std::string> config::*global;
        optional_setting<std::string> frontend_config::*own;
        bool tls_versions::*version;
        std::string_view version_name;
    };
    for (suites const& kind :
         {suites{
              "ciphers", &config::ciphers, &frontend_config::ciphers, &tls_versions::tls_1_2,
              "TLSv1.2"},
          suites{
              "ciphersuites", &config::ciphersuites, &frontend_config::ciphersuites,
              &tls_versions::tls_1_3, "TLSv1.3"}}) {
        std::string const usual = *(config{}.*kind.global);
        auto const refuse = [&](location const& where) {
            refuse_setting(
                problems, where, kind.key,
                fmt::format("this is for {}, which tls-protos leaves out", kind.version_name),
                fmt::format("Add {} to tls-protos, or leave {} out.", kind.version_name, kind.key));
        };
        bool global_is_used = scopes.empty();
        used_places found;
        for (tls_scope const& each : scopes) {
            bool const speaks =
                *effective(each.own(&frontend_config::tls_protos), c.tls_protos).*kind.version;
            if (takes_plaintext(c, each.frontend())) {
                global_is_used |= speaks && *c.client; // For the backend.
                continue;
            }
            optional_setting<std::string> const& own = each.own(kind.own);
            global_is_used |= speaks && !own;
            if (own && **own != usual)
                found.note(own->location, speaks);
        }
        found.for_each_unused(refuse);
        setting<std::string> const& global = c.*kind.global;
        if (*global != usual && !global_is_used)
            refuse(global.location);
    }
}

// TLS 1.2 has no compressed certificates.
void check_compression_has_effect(
    config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    auto const refuse = [&](location const& where) {
        refuse_setting(
            problems, where, "certificate-compression",
            "this is for TLSv1.3, which tls-protos leaves out",
            "Add TLSv1.3 to tls-protos, or leave certificate-compression out.");
    };
    bool is_inherited = false;
    used_places found;
    bool global_is_used = c.certificate_compression->empty();
    for (tls_scope const& each : scopes) {
        if (takes_plaintext(c, each.frontend()))
            continue;
        bool const speaks =
            effective(each.own(&frontend_config::tls_protos), c.tls_protos)->tls_1_3;
        optional_setting<std::vector<compression>> const& own =
            each.own(&frontend_config::certificate_compression);
        is_inherited |= !own;
        global_is_used |= speaks && !own;
        if (own && !(**own).empty())
            found.note(own->location, speaks);
    }
    found.for_each_unused(refuse);
    if (is_inherited && !global_is_used)
        refuse(c.certificate_compression.location);
}

// Those for clients that speak TLS.
void check_clients(config const& c, tls_scopes const& scopes, std::vector<problem>& problems)
{
    check_client_verify(c, scopes, problems);
    check_client_keys(c, scopes, problems);
    check_stale_crls(c, scopes, problems);
    check_allow_rules(c.certificate_rules, problems);
    for (tls_scope const& each : scopes)
        check_allow_rules(each.certificate_rules(), problems);
    check_compression_has_effect(c, scopes, problems);
}

void check_ticket_times(config const& c, std::vector<problem>& problems)
{
    std::chrono::seconds const most = limits::ticket_epochs_max * *c.ticket_epoch;
    if (*c.ticket_lifetime >= *c.ticket_epoch && *c.ticket_lifetime <= most)
        return;
    bool const is_epoch = c.ticket_lifetime.location.is_built_in();
    refuse_setting(
        problems, is_epoch ? c.ticket_epoch.location : c.ticket_lifetime.location,
        is_epoch ? "ticket-epoch" : "ticket-lifetime",
        fmt::format(
            "a ticket would live {} seconds, which is not between 1 and {} epochs of {}",
            c.ticket_lifetime->count(), limits::ticket_epochs_max, c.ticket_epoch->count()),
        fmt::format(
            "With this ticket-epoch, ticket-lifetime is from {} to {}.", c.ticket_epoch->count(),
            most.count()));
}

void check_tickets_have_effect(config const& c, std::vector<problem>& problems)
{
    if (*c.tickets != 0)
        return;
    std::pair<char const*, location const&> const keys[] = {
        {"ticket-secret", c.ticket_secret.location},
        {"ticket-epoch", c.ticket_epoch.location},
        {"ticket-ratchet", c.ticket_ratchet.location},
        {"tickets-resumed", c.tickets_resumed.location}};
    for (auto const& [key, where] : keys)
        if (!where.is_built_in())
            refuse_setting(
                problems, where, key, "this has no effect with tickets = 0",
                "Leave it out, or give tickets.");
}

void check_ratchet_has_its_file(config const& c, std::vector<problem>& problems)
{
    if (!*c.ticket_ratchet || c.ticket_secret->empty() || c.chroot->empty())
        return;
    refuse_setting(
        problems, c.chroot.location, "chroot",
        "with ticket-ratchet the file of ticket-secret is read outside of this folder, and would "
        "be rewritten inside",
        "Leave out chroot: sandbox confines cleat, too. Or leave out ticket-secret: the state is "
        "random then.");
}

// A mistake in a frontend's setting is found in the scope of the frontend, and again in those of
// its routes.
void drop_repeats(std::vector<problem>& problems)
{
    std::set<std::string> known;
    std::erase_if(
        problems, [&](problem const& each) { return !known.insert(to_string(each)).second; });
}

} // namespace

void check_tls(config const& settings, std::vector<problem>& problems)
{
    tls_scopes const scopes = tls_scopes_of(settings);
    std::vector<problem> found;
    if (any_ends_tls(settings)) {
        check_clients(settings, scopes, found);
        check_ticket_times(settings, found);
        check_tickets_have_effect(settings, found);
        check_ratchet_has_its_file(settings, found);
    }
    if (any_ends_tls(settings) || *settings.client)
        check_suites_have_effect(settings, scopes, found);
    check_proxy_client_cert(settings, scopes, found);
    drop_repeats(found);
    std::ranges::move(found, std::back_inserter(problems));
}

} // namespace cleat::app
