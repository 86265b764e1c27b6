#include "config/check.hpp"
#include "config/check_client_mode.hpp"
#include "config/check_limits.hpp"
#include "config/check_routes.hpp"
#include "config/check_upstream_tls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

namespace cleat::app {
namespace {

void complain(
    std::vector<problem>& problems, problem::severity grade, location const& where,
    std::string_view key, std::string text, std::string cure)
{
    problems.push_back({grade, where, std::string{key}, std::move(text), std::move(cure), true});
}

// At most one of the four ways to announce the client to the upstream.
void choose_announcement(config& c, std::vector<problem>& problems)
{
    struct way
    {
        std::string_view key;
        setting<bool> const& asked;
        announcement means;
    };
    std::array<way, 4> const ways{{
        {"write-ip", c.write_ip, announcement::write_ip},
        {"write-proxy-v1", c.write_proxy_v1, announcement::write_proxy_v1},
        {"write-proxy-v2", c.write_proxy_v2, announcement::write_proxy_v2},
        {"proxy-proxy", c.proxy_proxy, announcement::proxy_proxy},
    }};

    way const* chosen = nullptr;
    c.announce = {};
    for (way const& each : ways) {
        if (!*each.asked)
            continue;
        if (chosen) {
            complain(
                problems, problem::severity::error, each.asked.location, each.key,
                fmt::format(
                    "{} excludes {}, which is on by {}", each.key, chosen->key,
                    to_string(chosen->asked.location)),
                fmt::format("Turn one of them off: {} = off.", each.key));
            continue;
        }
        chosen = &each;
        c.announce = {each.means, each.asked.location};
    }
}

void check_listeners(config& c, std::vector<problem>& problems)
{
    if (c.frontends.empty()) {
        c.frontends.emplace_back();
        c.frontends.back().port = {8443, {}};
    }
    for (std::size_t i = 0; i < c.frontends.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (*c.frontends[i].port != 0 && c.frontends[i].address() == c.frontends[j].address())
                complain(
                    problems, problem::severity::error, c.frontends[i].location, "frontend",
                    fmt::format(
                        "{} is taken already, by {}", to_string(c.frontends[i].address()),
                        to_string(c.frontends[j].location)),
                    "Give each frontend an address of its own.");
}

void check_certificates(config const& c, std::vector<problem>& problems)
{
    if (!c.pem_dir_glob->empty() && c.pem_dirs.empty())
        complain(
            problems, problem::severity::error, c.pem_dir_glob.location, "pem-dir-glob",
            "this chooses among the files of pem-dir, which is not set", "Set pem-dir too.");
    if (*c.pem_dir_recursive && c.pem_dirs.empty())
        complain(
            problems, problem::severity::error, c.pem_dir_recursive.location, "pem-dir-recursive",
            "this is for the subfolders of pem-dir, which is not set", "Set pem-dir too.");
    if (*c.pem_dir_skip_broken && c.pem_dirs.empty())
        complain(
            problems, problem::severity::error, c.pem_dir_skip_broken.location,
            "pem-dir-skip-broken", "this is for the files of pem-dir, which is not set",
            "Set pem-dir too.");

    bool const has_global = !c.pem_files.empty() || !c.pem_dirs.empty();
    for (frontend_config const& each : c.frontends) {
        if (!each.pem_files.empty() || takes_plaintext(c, each))
            continue;
        bool const uses_global = each.uses_global_certs();
        if (uses_global && has_global)
            continue;
        location const& where = uses_global ? each.location : each.match_global_certs->location;
        complain(
            problems, problem::severity::error, where, "frontend",
            fmt::format("there is no certificate for {}", to_string(each.address())),
            uses_global ? "Name a PEM file with the certificate, its chain and its key: pem-file = "
                          "\"site.pem\", or at the end of the command line."
                        : "Give the frontend a pem-file, or turn match-global-certs on.");
    }
}

// A list that every frontend replaces is a mistake.
void check_address_lists(config const& c, std::vector<problem>& problems)
{
    struct kind
    {
        std::string_view key;
        setting<address_sources> config::*global;
        optional_setting<address_sources> frontend_config::*own;
    };
    for (kind const& each :
         {kind{"allow-from", &config::allow_from, &frontend_config::allow_from},
          kind{"deny-from", &config::deny_from, &frontend_config::deny_from},
          kind{"proxy-from", &config::proxy_from, &frontend_config::proxy_from}}) {
        setting<address_sources> const& global = c.*each.global;
        bool const is_replaced = std::ranges::all_of(
            c.frontends, [&](frontend_config const& one) { return (one.*each.own).has_value(); });
        if (global->is_on() && is_replaced)
            complain(
                problems, problem::severity::error, global.location, each.key,
                "this has no effect: every frontend has a list of its own",
                "Leave it out, or leave out a frontend's.");
    }
}

// Where a header of anybody names the client, a list of clients keeps nobody out.
void check_lists_behind_proxy(config const& c, std::vector<problem>& problems)
{
    if (*c.announce != announcement::proxy_proxy)
        return;
    for (frontend_config const& each : c.frontends) {
        if (effective(each.proxy_from, c.proxy_from)->is_on())
            continue;
        for (auto const& [key, list] :
             {named_list{"allow-from", &effective(each.allow_from, c.allow_from)},
              named_list{"deny-from", &effective(each.deny_from, c.deny_from)}})
            if ((*list)->is_on())
                complain(
                    problems, problem::severity::error, list->location, key,
                    "proxy-proxy takes a PROXY header from every peer, so every peer could name a "
                    "client that is let in",
                    "Name the load balancers with proxy-from.");
    }
}

void check_proxy_keys(config const& c, std::vector<problem>& problems)
{
    bool const writes_v2 = *c.announce == announcement::write_proxy_v2;
    if (*c.proxy_checksum && !writes_v2)
        complain(
            problems, problem::severity::error, c.proxy_checksum.location, "proxy-checksum",
            "this is a part of the header of write-proxy-v2, which is off",
            "Turn write-proxy-v2 on, or leave this out.");
    // The default is no mistake: `cleat --default-config` writes it.
    if (*c.proxy_inbound_tlvs == inbound_tlvs::keep)
        return;
    bool const expects_headers = std::ranges::any_of(c.frontends, [&](frontend_config const& each) {
        return effective(each.proxy_from, c.proxy_from)->is_on();
    });
    if (!writes_v2 || !expects_headers)
        complain(
            problems, problem::severity::error, c.proxy_inbound_tlvs.location, "proxy-inbound-tlvs",
            "there are no TLVs to drop: this needs both proxy-from and write-proxy-v2",
            "Set both, or leave this out.");
}

constexpr std::string_view needs_authorities =
    "clients cannot be verified without client-verify-ca";
constexpr std::string_view name_authorities =
    "Set client-verify-ca to the file of the authorities that may sign clients' certificates.";
constexpr std::string_view verifies_nobody =
    "this verifies nobody: client-verify is none, so no client is asked for a certificate";
constexpr std::string_view ask_clients =
    "Set client-verify to optional or required; or to none, to keep this for later.";

// A certificate's own rule. The frontend's completes it.
void check_own_rule(
    pem_file const& pem, setting<client_verify> const& frontend_mode,
    setting<std::string> const& frontend_ca, std::vector<problem>& problems)
{
    setting<client_verify> const& mode = effective(pem.client_verify, frontend_mode);
    setting<std::string> const& ca = effective(pem.client_verify_ca, frontend_ca);
    if (pem.client_verify && *mode != client_verify::none && ca->empty())
        complain(
            problems, problem::severity::error, mode.location, "client-verify",
            std::string{needs_authorities}, std::string{name_authorities});
    if (pem.client_verify_ca && !ca->empty() && mode.location.is_built_in())
        complain(
            problems, problem::severity::error, ca.location, "client-verify-ca",
            std::string{verifies_nobody}, std::string{ask_clients});
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
// `client-verify = none` they are none: verifying was turned off, and may be turned on again.
void check_authorities_have_effect(config const& c, std::vector<problem>& problems)
{
    auto const refuse = [&](setting<std::string> const& ca) {
        complain(
            problems, problem::severity::error, ca.location, "client-verify-ca",
            std::string{verifies_nobody}, std::string{ask_clients});
    };
    bool global_is_used = !c.client_verify.location.is_built_in();
    for (frontend_config const& each : c.frontends) {
        if (takes_plaintext(c, each))
            continue;
        bool const borrows = borrows_authorities(each.pem_files) ||
                             (each.uses_global_certs() && borrows_authorities(c.pem_files));
        bool const verifies =
            borrows || (each.client_verify && **each.client_verify != client_verify::none);
        global_is_used |= verifies && !each.client_verify_ca;
        bool const is_set =
            borrows || each.client_verify || !c.client_verify.location.is_built_in();
        if (each.client_verify_ca && !(**each.client_verify_ca).empty() && !is_set)
            refuse(*each.client_verify_ca);
    }
    if (!c.client_verify_ca->empty() && !global_is_used)
        refuse(c.client_verify_ca);
}

void check_client_verify(config const& c, std::vector<problem>& problems)
{
    check_authorities_have_effect(c, problems);
    bool global_is_reported = false; // A mistake that several frontends inherit is reported once.
    std::vector<problem> of_pems;
    for (frontend_config const& each : c.frontends) {
        if (takes_plaintext(c, each))
            continue;
        setting<client_verify> const& mode = effective(each.client_verify, c.client_verify);
        setting<std::string> const& ca = effective(each.client_verify_ca, c.client_verify_ca);
        if (*mode != client_verify::none && ca->empty()) {
            bool const is_global = !each.client_verify;
            if (!is_global || !std::exchange(global_is_reported, true))
                complain(
                    problems, problem::severity::error, mode.location, "client-verify",
                    std::string{needs_authorities}, std::string{name_authorities});
            continue;
        }
        if (each.uses_global_certs())
            for (pem_file const& pem : c.pem_files)
                check_own_rule(pem, mode, ca, of_pems);
        for (pem_file const& pem : each.pem_files)
            check_own_rule(pem, mode, ca, of_pems);
    }
    for (problem& each : of_pems) // Likewise.
        if (std::ranges::find(problems, each.where, &problem::where) == problems.end())
            problems.push_back(std::move(each));
}

// Whether any client is asked for a certificate.
bool any_asks_clients(config const& c)
{
    return std::ranges::any_of(
        c.frontends, [&](frontend_config const& each) { return asks_clients(c, each); });
}

// A setting for clients' certificates: whether it is set, and where.
struct certificate_key
{
    std::string_view key;
    location const* (*global)(config const&);
    location const* (*own)(frontend_config const&);
};

template <auto Member>
location const* place_of(config const& c)
{
    // The default is no mistake: `cleat --default-config` writes it.
    return *(c.*Member) == *(config{}.*Member) ? nullptr : &(c.*Member).location;
}

template <auto Member>
location const* place_of(frontend_config const& frontend)
{
    return frontend.*Member ? &(frontend.*Member)->location : nullptr;
}

template <class Scope>
location const* place_of_rules(Scope const& scope)
{
    return scope.certificate_rules.empty() ? nullptr : &scope.certificate_rules.front().location;
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
    {"client-allow", place_of_rules<config>, place_of_rules<frontend_config>},
    {"client-allow-file", place_of<&config::client_allow_file>,
     place_of<&frontend_config::client_allow_file>},
}};

// Settings for clients' certificates are mistakes where no client is asked for one. Where
// client-verify is turned off by name, they are kept for later.
void check_client_keys(config const& c, std::vector<problem>& problems)
{
    for (certificate_key const& each : client_keys) {
        auto const refuse = [&](location const& where) {
            complain(
                problems, problem::severity::error, where, each.key,
                "no client is asked for a certificate: client-verify is none",
                "Set client-verify to optional or required, or leave this out.");
        };
        bool global_is_used = !c.client_verify.location.is_built_in();
        for (frontend_config const& frontend : c.frontends) {
            if (takes_plaintext(c, frontend))
                continue;
            bool const asks = asks_clients(c, frontend);
            location const* const own = each.own(frontend);
            global_is_used |= asks && own == nullptr;
            bool const is_off = frontend.client_verify || !c.client_verify.location.is_built_in();
            if (own != nullptr && !asks && !is_off)
                refuse(*own);
        }
        if (location const* const where = each.global(c); where != nullptr && !global_is_used)
            refuse(*where);
    }
}

void check_stale_crls(config const& c, std::vector<problem>& problems)
{
    auto const refuse = [&](location const& where) {
        complain(
            problems, problem::severity::error, where, "client-verify-crl-stale",
            "there is no CRL: client-verify-crl is not set", "Set it, or leave this out.");
    };
    for (frontend_config const& each : c.frontends)
        if (each.client_verify_crl_stale &&
            effective(each.client_verify_crl, c.client_verify_crl)->empty())
            refuse(each.client_verify_crl_stale->location);
    // The default is no mistake: `cleat --default-config` writes it.
    if (*c.client_verify_crl_stale != stale_crls::refuse && client_crls_of(c).empty())
        refuse(c.client_verify_crl_stale.location);
}

void check_allow_rules(std::vector<allow_config> const& rules, std::vector<problem>& problems)
{
    for (allow_config const& each : rules)
        if (each.conditions.empty())
            complain(
                problems, problem::severity::error, each.location, "client-allow",
                "this rule asks for nothing, so every certificate would meet it",
                "Add a condition, such as uri = \"spiffe://example.org/web\", or leave it out.");
}

void check_proxy_client_cert(config const& c, std::vector<problem>& problems)
{
    if (!*c.proxy_client_cert)
        return;
    auto const refuse = [&](std::string text, std::string cure) {
        complain(
            problems, problem::severity::error, c.proxy_client_cert.location, "proxy-client-cert",
            std::move(text), std::move(cure));
    };
    if (*c.announce != announcement::write_proxy_v2)
        refuse(
            "this is a part of the header of write-proxy-v2, which is off",
            "Turn write-proxy-v2 on, or leave this out.");
    else if (!any_asks_clients(c))
        refuse(
            "no client is asked for a certificate: client-verify is none",
            "Set client-verify to optional or required, or leave this out.");
}

// Cipher suites of a TLS version that no frontend with these suites speaks are a mistake. The
// default list is none: a file that --default-config printed has it.
void check_suites_have_effect(config const& c, std::vector<problem>& problems)
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
        auto const refuse = [&](setting<std::string> const& written) {
            complain(
                problems, problem::severity::error, written.location, kind.key,
                fmt::format("this is for {}, which tls-protos leaves out", kind.version_name),
                fmt::format("Add {} to tls-protos, or leave {} out.", kind.version_name, kind.key));
        };
        bool global_is_used = c.frontends.empty();
        for (frontend_config const& each : c.frontends) {
            bool const speaks = *effective(each.tls_protos, c.tls_protos).*kind.version;
            if (takes_plaintext(c, each)) {
                global_is_used |= speaks && *c.client; // For the backend.
                continue;
            }
            optional_setting<std::string> const& own = each.*kind.own;
            global_is_used |= speaks && !own;
            if (own && **own != usual && !speaks)
                refuse(*own);
        }
        setting<std::string> const& global = c.*kind.global;
        if (*global != usual && !global_is_used)
            refuse(global);
    }
}

// TLS 1.2 has no compressed certificates.
void check_compression_has_effect(config const& c, std::vector<problem>& problems)
{
    auto const refuse = [&](location const& where) {
        complain(
            problems, problem::severity::error, where, "certificate-compression",
            "this is for TLSv1.3, which tls-protos leaves out",
            "Add TLSv1.3 to tls-protos, or leave certificate-compression out.");
    };
    bool is_inherited = false;
    bool global_is_used = c.certificate_compression->empty();
    for (frontend_config const& each : c.frontends) {
        if (takes_plaintext(c, each))
            continue;
        bool const speaks = effective(each.tls_protos, c.tls_protos)->tls_1_3;
        bool const has_own = each.certificate_compression.has_value();
        is_inherited |= !has_own;
        global_is_used |= speaks && !has_own;
        if (has_own && !(**each.certificate_compression).empty() && !speaks)
            refuse(each.certificate_compression->location);
    }
    if (is_inherited && !global_is_used)
        refuse(c.certificate_compression.location);
}

void check_log(config const& c, std::vector<problem>& problems)
{
    bool const to_syslog = *c.syslog || (*c.daemon && c.log_filename->empty()) ||
                           target_of_access_log(c) == access_log_target::syslog;
    if (!to_syslog && c.syslog_facility->code != default_facility().code)
        complain(
            problems, problem::severity::error, c.syslog_facility.location, "syslog-facility",
            "the log does not go to syslog", "Turn syslog on, or leave this out.");
}

void check_access_log(config const& c, std::vector<problem>& problems)
{
    access_log_target const target = target_of_access_log(c);
    // The default is no mistake: `cleat --default-config` writes it.
    if (target == access_log_target::off && *c.access_log_format != access_log_format::logfmt)
        complain(
            problems, problem::severity::error, c.access_log_format.location, "access-log-format",
            "there is no access log", "Set access-log, or leave this out.");
    if (target == access_log_target::standard_output && *c.daemon)
        complain(
            problems, problem::severity::error, c.access_log.location, "access-log",
            "a daemon has no standard output", "Name a file, or write syslog.");
}

// The settings for clients that speak TLS.
void check_clients_tls(config const& c, std::vector<problem>& problems)
{
    check_certificates(c, problems);
    check_client_verify(c, problems);
    check_client_keys(c, problems);
    check_stale_crls(c, problems);
    check_allow_rules(c.certificate_rules, problems);
    for (frontend_config const& each : c.frontends)
        check_allow_rules(each.certificate_rules, problems);
    check_compression_has_effect(c, problems);
}

void check_daemon(config const& c, std::vector<problem>& problems)
{
    if (*c.daemon && !*c.syslog && c.log_filename->empty())
        complain(
            problems, problem::severity::warning, c.daemon.location, "daemon",
            "a daemon has no terminal, so its log goes to syslog, if a log daemon is there",
            "Turn syslog on, or set log-filename, and it is certain.");
}

void check_admin(config const& c, std::vector<problem>& problems)
{
    host_port const* const where = std::get_if<host_port>(&*c.admin);
    if (*c.admin_allow_remote && where == nullptr)
        complain(
            problems, problem::severity::error, c.admin_allow_remote.location, "admin-allow-remote",
            "this is for the address of admin, which has none",
            "Set admin to one, or leave it out.");
    if (*c.certificate_metrics != 0 && std::holds_alternative<std::monostate>(*c.admin))
        complain(
            problems, problem::severity::error, c.certificate_metrics.location,
            "certificate-metrics", "this is for /metrics of admin, which is not set",
            "Set admin, or leave it out.");
    if (where != nullptr && !*c.admin_allow_remote && !is_loopback(where->host))
        complain(
            problems, problem::severity::error, c.admin.location, "admin",
            fmt::format(
                "other machines may reach {}, and the admin server asks for no password",
                to_string(*where)),
            "Write [127.0.0.1]:PORT, or set admin-allow-remote = on.");
}

void check_dns(config const& c, std::vector<problem>& problems)
{
    if (*c.dns_min_ttl > *c.dns_max_ttl)
        complain(
            problems, problem::severity::error,
            c.dns_max_ttl.location.is_built_in() ? c.dns_min_ttl.location : c.dns_max_ttl.location,
            "dns-max-ttl",
            fmt::format("it is shorter than dns-min-ttl, which is {}", (*c.dns_min_ttl).count()),
            "Give it the same value, or a longer one.");
    if (!c.sandbox->ports)
        return;
    auto const refuse = [&](setting<upstream_address> const& server, std::string_view key) {
        if (std::holds_alternative<service_name>(*server))
            complain(
                problems, problem::severity::error, server.location, key,
                "the SRV records have ports that sandbox = ports cannot know at the start",
                "Take ports out of sandbox, or name servers as [HOST]:PORT.");
    };
    refuse(c.backend, "backend");
    for (upstream_config const& upstream : c.upstreams)
        for (upstream_server const& each : upstream.servers)
            refuse(each.address, "server");
}

void check_reload_on_change(config const& c, std::vector<problem>& problems)
{
    if (*c.reload_on_change && c.file == "-")
        complain(
            problems, problem::severity::error, c.reload_on_change.location, "reload-on-change",
            "the configuration comes from standard input, which cannot be read again",
            "Write it into a file, and start cleat with --config FILE.");
}

} // namespace

void check(config& settings, std::vector<problem>& problems)
{
    choose_announcement(settings, problems);
    check_listeners(settings, problems);
    check_upstreams(settings, problems);
    check_upstream_tls(settings, problems);
    check_routes(settings, problems);
    check_address_lists(settings, problems);
    check_lists_behind_proxy(settings, problems);
    check_proxy_keys(settings, problems);
    check_limits(settings, problems);
    check_client_mode(settings, problems);
    if (any_ends_tls(settings))
        check_clients_tls(settings, problems);
    if (any_ends_tls(settings) || *settings.client)
        check_suites_have_effect(settings, problems);
    check_proxy_client_cert(settings, problems);
    check_daemon(settings, problems);
    check_admin(settings, problems);
    check_dns(settings, problems);
    check_reload_on_change(settings, problems);
    check_log(settings, problems);
    check_access_log(settings, problems);
}

} // namespace cleat::app
