#include "config/check.hpp"
#include "config/check_client_mode.hpp"
#include "config/check_limits.hpp"
#include "config/check_route_settings.hpp"
#include "config/check_routes.hpp"
#include "config/check_tls.hpp"
#include "config/check_upstream_tls.hpp"
#include "config/route_settings.hpp"
#include "config/upstream_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
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
    std::map<std::string, location const*> taken; // By address.
    for (frontend_config const& each : c.frontends) {
        if (*each.port == 0)
            continue;
        auto const [first, is_new] = taken.try_emplace(to_string(each.address()), &each.location);
        if (!is_new)
            complain(
                problems, problem::severity::error, each.location, "frontend",
                fmt::format("{} is taken already, by {}", first->first, to_string(*first->second)),
                "Give each frontend an address of its own.");
    }
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

// Where every peer's header may name the client, a list of clients keeps no client out, and a route
// takes every client that wants it.
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
        for (route_config const& route : each.routes)
            if (!route.client_address.empty())
                complain(
                    problems, problem::severity::error, route.client_address.front().location,
                    "client-address",
                    "proxy-proxy takes a PROXY header from every peer, so every peer could name a "
                    "client that this route takes",
                    "Name the load balancers with proxy-from.");
    }
}

void check_proxy_keys(config const& c, std::vector<problem>& problems)
{
    bool const writes_v2 = gets_proxy_v2(c);
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

// Without this, `log-filename = on` makes a file of that name.
void check_log_name(config const& c, std::vector<problem>& problems)
{
    constexpr std::array<std::string_view, 9> no_files{"on",    "off",    "yes",    "no",    "true",
                                                       "false", "stdout", "stderr", "syslog"};
    std::string const& name = *c.log_filename;
    if (std::ranges::find(no_files, name) != no_files.end())
        complain(
            problems, problem::severity::error, c.log_filename.location, "log-filename",
            fmt::format("\"{}\" is no file", name),
            fmt::format(
                "Write a path with a slash (\"./{}\"), /dev/stdout, /dev/stderr, syslog = on, or "
                "leave it out: the log then goes to standard error.",
                name));
}

void check_log(config const& c, std::vector<problem>& problems)
{
    check_log_name(c, problems);
    bool const to_syslog = *c.syslog || (*c.daemon && c.log_filename->empty()) ||
                           target_of_access_log(c) == access_log_target::syslog;
    if (!to_syslog && c.syslog_facility->code != default_facility().code)
        complain(
            problems, problem::severity::error, c.syslog_facility.location, "syslog-facility",
            "the log does not go to syslog", "Turn syslog on, or leave this out.");
}

// The standard streams may be shared.
bool is_same_file(std::string const& one, std::string const& other)
{
    std::filesystem::path const path = std::filesystem::absolute(one).lexically_normal();
    return !path.native().starts_with("/dev/") &&
           path == std::filesystem::absolute(other).lexically_normal();
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
    if (target != access_log_target::file)
        return;
    if (c.access_log->find('/') == std::string::npos)
        complain(
            problems, problem::severity::error, c.access_log.location, "access-log",
            fmt::format("\"{}\" is no place for the access log", *c.access_log),
            fmt::format(
                "Write a path with a slash (\"./{}\"), stdout, syslog or off.", *c.access_log));
    else if (!c.log_filename->empty() && is_same_file(*c.access_log, *c.log_filename))
        complain(
            problems, problem::severity::error, c.access_log.location, "access-log",
            fmt::format(
                "log-filename names this file too, by {}", to_string(c.log_filename.location)),
            "Give each log a file of its own.");
}

void check_daemon(config const& c, std::vector<problem>& problems)
{
    if (*c.daemon && !*c.syslog && c.log_filename->empty())
        complain(
            problems, problem::severity::warning, c.daemon.location, "daemon",
            "a daemon has no terminal, so its log goes to syslog, if a log daemon is there",
            "Turn syslog on, or set log-filename, and it is certain.");
}

// A frontend at every address takes its port there, too.
void check_admin_address(config const& c, host_port const& where, std::vector<problem>& problems)
{
    auto const is_taken_by = [&](frontend_config const& each) {
        return *each.port == where.port && (*each.host == where.host || *each.host == "*");
    };
    auto const found = std::ranges::find_if(c.frontends, is_taken_by);
    if (where.port != 0 && found != c.frontends.end())
        complain(
            problems, problem::severity::error, c.admin.location, "admin",
            fmt::format(
                "{} is taken already, by the frontend of {}", to_string(where),
                to_string(found->location)),
            "Give the admin server another port, or a path in /run.");
}

void check_admin(config const& c, std::vector<problem>& problems)
{
    host_port const* const where = std::get_if<host_port>(&*c.admin);
    if (where != nullptr)
        check_admin_address(c, *where, problems);
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

// They are for files that a later configuration names, wherever it is read.
void check_sandbox_paths(config const& c, std::vector<problem>& problems)
{
    auto const check = [&](std::vector<setting<std::string>> const& folders, char const* key) {
        for (setting<std::string> const& each : folders)
            if (!each->starts_with('/'))
                complain(
                    problems, problem::severity::error, each.location, key,
                    fmt::format("\"{}\" is not an absolute path", *each),
                    "Write a folder that begins with /.");
    };
    check(c.sandbox_read, "sandbox-read");
    check(c.sandbox_write, "sandbox-write");
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
    upstream_index const index{settings};
    check_upstreams(index, problems);
    check_upstream_tls(settings, problems);
    check_routes(settings, problems);
    check_route_settings(settings, problems);
    check_address_lists(settings, problems);
    check_lists_behind_proxy(settings, problems);
    check_proxy_keys(settings, problems);
    check_limits(settings, problems);
    check_client_mode(index, problems);
    if (any_ends_tls(settings))
        check_certificates(settings, problems);
    check_tls(settings, problems);
    check_daemon(settings, problems);
    check_admin(settings, problems);
    check_dns(settings, problems);
    check_sandbox_paths(settings, problems);
    check_reload_on_change(settings, problems);
    check_log(settings, problems);
    check_access_log(settings, problems);
}

} // namespace cleat::app
