#include "config/check_routes.hpp"
#include "config/route_settings.hpp"
#include "config/route_text.hpp"
#include "config/tls_scope.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

using namespace std::string_view_literals;
using severity = problem::severity;

void report_problem(
    std::vector<problem>& problems, severity grade, location const& where, std::string_view key,
    std::string text, std::string cure)
{
    problems.push_back({grade, where, std::string{key}, std::move(text), std::move(cure), true});
}

// Of a check: TLS, the text that it sends and the one that it expects.
void check_texts(upstream_config const& c, announcement announced, std::vector<problem>& problems)
{
    auto const complain = [&](location const& where, std::string_view key, std::string text,
                              std::string cure) {
        report_problem(problems, severity::error, where, key, std::move(text), std::move(cure));
    };
    if (*c.check == check_kind::tls && !*c.tls.enabled)
        complain(
            c.check.location, "check", "the servers speak no TLS: tls is off here",
            fmt::format(
                "Write tls = on into the upstream {}, or check = tcp for servers that end the "
                "clients' own TLS.",
                *c.name));
    bool const has_tls = *c.tls.enabled && *c.check != check_kind::tcp;
    if (!c.check_alpn->empty() && !has_tls)
        complain(
            c.check_alpn.location, "check-alpn", "this has no effect: the check speaks no TLS",
            "Write check = tls, with tls = on, or leave this out.");
    if (!c.check_send->bytes.empty() && c.check_expect->bytes.empty())
        complain(
            c.check_send.location, "check-send", "the check would pass whatever the server answers",
            "Add check-expect with a text of the right answer.");
    if (std::size_t const size = c.check_expect->bytes.size(); size > limits::check_answer_max)
        complain(
            c.check_expect.location, "check-expect",
            fmt::format(
                "the text has {} bytes, and a check reads {} of the answer", size,
                limits::check_answer_max),
            "Write a part of the right answer.");
    std::string_view const text = c.check_send->bytes;
    bool const is_header = text.starts_with("PROXY ") || text.starts_with("\r\n\r\n\0\r\nQUIT\n"sv);
    if (is_header && announced != announcement::nothing)
        complain(
            c.check_send.location, "check-send",
            "this begins with a PROXY header, and a check sends one already",
            "Leave the header out.");
}

// Settings of checks that have no effect, or not the one that was meant.
void check_checks(upstream_config const& c, announcement announced, std::vector<problem>& problems)
{
    auto const complain = [&](location const& where, std::string_view key, std::string text,
                              std::string cure) {
        report_problem(problems, severity::error, where, key, std::move(text), std::move(cure));
    };
    if (*c.check == check_kind::off) {
        auto const refuse = [&](auto const& one, std::string_view key) {
            if (!one.location.is_built_in())
                complain(
                    one.location, key,
                    fmt::format("this has no effect: the upstream {} has no checks", *c.name),
                    "Add check = on to the block, or leave this out.");
        };
        refuse(c.check_interval, "check-interval");
        refuse(c.check_timeout, "check-timeout");
        refuse(c.check_rise, "check-rise");
        refuse(c.check_fall, "check-fall");
        refuse(c.check_send, "check-send");
        refuse(c.check_expect, "check-expect");
        refuse(c.check_alpn, "check-alpn");
        return;
    }
    if (*c.check_timeout > *c.check_interval) {
        bool const is_written = !c.check_timeout.location.is_built_in();
        complain(
            is_written ? c.check_timeout.location : c.check_interval.location,
            is_written ? "check-timeout" : "check-interval",
            fmt::format(
                "a check may take {} s, and the next one begins after {} s",
                (*c.check_timeout).count(), (*c.check_interval).count()),
            "Make check-timeout at most check-interval.");
    }
    check_texts(c, announced, problems);
}

// Checks, orders and metrics know a server by its upstream and its address.
void refuse_twins(upstream_config const& c, std::vector<problem>& problems)
{
    std::map<std::string, upstream_server const*> seen;
    for (upstream_server const& each : c.servers) {
        auto const [first, is_new] = seen.try_emplace(to_string(*each.address), &each);
        if (!is_new)
            report_problem(
                problems, severity::error, each.location, "server",
                fmt::format(
                    "{} is there already, by {}", first->first, to_string(first->second->location)),
                "Leave it out; a weight gives a server a larger share.");
    }
}

std::size_t count_servers(upstream_config const& upstream)
{
    std::size_t count = 0;
    for (upstream_server const& each : upstream.servers)
        count +=
            std::holds_alternative<service_name>(*each.address) ? limits::service_targets_max : 1;
    return count;
}

void check_upstream_names(upstream_index const& index, std::vector<problem>& problems)
{
    for (upstream_config const& each : index.settings().upstreams) {
        refuse_twins(each, problems);
        check_checks(each, index.announcement_of_checks(*each.name), problems);
        if (*each.preconnect == 0 && !each.preconnect_time.location.is_built_in())
            report_problem(
                problems, severity::error, each.preconnect_time.location, "preconnect-time",
                fmt::format(
                    "this has no effect: the upstream {} has no connections ready", *each.name),
                "Add preconnect to the block, or leave this out.");
        if (*each.balance == balance::first && each.slow_start->count() != 0)
            report_problem(
                problems, severity::error, each.slow_start.location, "slow-start",
                "this has no effect: with balance = first a server has no share",
                "Leave it out, or write another balance.");
        upstream_config const* const first = index.find(*each.name);
        if (first != &each)
            report_problem(
                problems, severity::error, each.name.location, "name",
                fmt::format(
                    "the upstream {} is there already, by {}", *each.name,
                    to_string(first->location)),
                "Give each upstream a name of its own.");
        if (count_servers(each) > limits::servers_max)
            report_problem(
                problems, severity::error, each.location, "upstream",
                fmt::format(
                    "{} has {} servers, and may have {}", *each.name, count_servers(each),
                    limits::servers_max),
                fmt::format(
                    "Name a balancer in front of them; srv: counts as {}.",
                    limits::service_targets_max));
    }
}

// A name that no upstream block has.
void refuse_unknown(
    upstream_index const& index, setting<std::string> const& name, std::vector<problem>& problems)
{
    if (index.find(*name) != nullptr)
        return;
    std::vector<std::string_view> known;
    for (upstream_config const& one : index.settings().upstreams)
        known.push_back(*one.name);
    report_problem(
        problems, severity::error, name.location, "upstream",
        name->empty() ? std::string{"the route names no upstream"}
                      : fmt::format("there is no upstream {}", *name),
        known.empty() ? "Write a block: upstream = { name = ... server = ... }."
                      : fmt::format("The upstreams are {}.", fmt::join(known, ", ")));
}

// The routes of one frontend.
class route_check
{
public:
    route_check(config const& c, frontend_config const& frontend, std::vector<problem>& problems)
        : config_{c}
        , frontend_{frontend}
        , problems_{problems}
        , table_{rules_of(frontend)}
        , frontend_asks_{asks_clients(c, frontend)}
    {
        for (route_config const& each : frontend.routes)
            if (has_tls_settings(each) && asks_clients(c, {frontend, each}))
                asking_routes_.push_back(&each);
    }

    void run()
    {
        for (route_table::number i = 0; i != frontend_.routes.size(); ++i) {
            route_config const& route = frontend_.routes[i];
            if (takes_plaintext(config_, frontend_) && !check_plaintext(route))
                continue;
            check_conditions(route);
            check_protocols(route);
            if (route.sni.empty())
                check_name(i, nullptr, route.location);
            for (setting<server_name_pattern> const& each : route.sni)
                check_name(i, &*each, each.location);
        }
    }

private:
    void refuse(location const& where, std::string_view key, std::string text, std::string cure)
    {
        report_problem(problems_, severity::error, where, key, std::move(text), std::move(cure));
    }

    // A client that speaks no TLS is known by its address alone. False: it has been reported.
    bool check_plaintext(route_config const& route)
    {
        auto const refuse_condition = [&](location const& where, std::string_view key) {
            refuse(
                where, key, "a client in plaintext has none, and this frontend has client = on",
                "Leave it out: client-address is the condition for such clients.");
        };
        for (setting<server_name_pattern> const& each : route.sni)
            refuse_condition(each.location, "sni");
        if (!route.alpn->empty())
            refuse_condition(route.alpn.location, "alpn");
        for (allow_config const& each : route.certificate_rules)
            refuse_condition(each.location, "client-certificate");
        if (*route.passthrough)
            refuse(
                route.passthrough.location, "passthrough",
                "this is for clients that speak TLS, and this frontend takes plaintext",
                "Leave it out, or turn client off in the frontend.");
        return route.sni.empty() && route.alpn->empty() && route.certificate_rules.empty() &&
               !*route.passthrough;
    }

    // The frontend asks clients of the route for a certificate, or a route that may take them when
    // TLS begins.
    [[nodiscard]] bool asks_clients_of(route_config const& route) const
    {
        return frontend_asks_ || std::ranges::any_of(asking_routes_, [&](route_config const* each) {
                   return share_names(*each, route);
               });
    }

    static bool share_names(route_config const& one, route_config const& other)
    {
        auto const is_for_other = [&](setting<server_name_pattern> const& name) {
            return std::ranges::any_of(other.sni, [&](setting<server_name_pattern> const& each) {
                return share_a_name(*name, *each);
            });
        };
        return one.sni.empty() || other.sni.empty() || std::ranges::any_of(one.sni, is_for_other);
    }

    void check_conditions(route_config const& route)
    {
        if (route.sni.empty() && route.alpn->empty() && route.client_address.empty() &&
            route.certificate_rules.empty() && !*route.passthrough)
            refuse(
                route.location, "route", "this takes every client of the frontend",
                "Write its upstream into the frontend, or add sni, alpn or client-address.");
        for (allow_config const& each : route.certificate_rules)
            check_certificate(route, each);
    }

    void check_certificate(route_config const& route, allow_config const& rule)
    {
        if (rule.conditions.empty())
            refuse(
                rule.location, "client-certificate",
                "this rule asks for nothing, so every certificate would meet it",
                "Add a condition, such as uri = \"spiffe://example.org/web\".");
        else if (*route.passthrough)
            refuse(
                rule.location, "client-certificate",
                "a client that is passed through shows cleat no certificate",
                "Leave this or passthrough out.");
        else if (!asks_clients_of(route))
            refuse(
                rule.location, "client-certificate",
                "no client of this route is asked for a certificate: client-verify is none",
                "Set client-verify to optional or required, or leave this out.");
    }

    // A client cannot agree on a protocol that the frontend does not have.
    void check_protocols(route_config const& route)
    {
        if (*route.passthrough)
            return;
        std::vector<std::string> const& ours = *config_.alpn_protos;
        for (std::string const& each : *route.alpn)
            if (std::ranges::find(ours, each) == ours.end())
                refuse(
                    route.alpn.location, "alpn",
                    fmt::format(
                        "no client agrees on {} here, which {}", each,
                        ours.empty() ? "needs alpn-protos" : "alpn-protos does not have"),
                    "Add it to alpn-protos; or set passthrough = on, if the upstream speaks TLS.");
    }

    void check_name(route_table::number i, server_name_pattern const* name, location const& where)
    {
        std::string_view const key = name == nullptr ? "route" : "sni";
        if (std::optional<route_table::number> const cover = table_.find_cover(i, name))
            refuse(
                where, key,
                fmt::format(
                    "this is never chosen: the route at {} takes all clients{}",
                    to_string(frontend_.routes[*cover].location),
                    name == nullptr ? " that this one would take"
                                    : fmt::format(" with {}", subject_of(*name))),
                "Put the narrower route first, or remove one of them.");
        if (table_.count_alike(name) > limits::routes_of_name_max && !std::exchange(is_long_, true))
            refuse(
                where, key,
                fmt::format(
                    "{} routes are for {}, and may be {}", table_.count_alike(name),
                    name == nullptr ? "any name" : subject_of(*name), limits::routes_of_name_max),
                "Join those with the same upstream: sni and client-address may be repeated.");
    }

    static std::string subject_of(server_name_pattern const& name)
    {
        return name.what == server_name_pattern::kind::none ? "no name" : to_string(name);
    }

    config const& config_;
    frontend_config const& frontend_;
    std::vector<problem>& problems_;
    route_table table_;
    bool frontend_asks_;
    std::vector<route_config const*> asking_routes_; // With settings of their own.
    bool is_long_ = false;                           // It has been reported.
};

} // namespace

void check_upstreams(upstream_index const& index, std::vector<problem>& problems)
{
    config const& settings = index.settings();
    check_upstream_names(index, problems);
    std::set<std::string_view> used;
    bool is_backend_used = false;
    for (frontend_config const& each : settings.frontends) {
        setting<std::string> const& name = effective(each.upstream, settings.upstream);
        used.insert(*name);
        is_backend_used = is_backend_used || name->empty();
        if (!name->empty())
            refuse_unknown(index, name, problems);
        for (route_config const& route : each.routes) {
            used.insert(*route.upstream);
            refuse_unknown(
                index,
                route.upstream->empty() ? setting<std::string>{{}, route.location} : route.upstream,
                problems);
        }
    }
    if (!is_backend_used && !settings.backend.location.is_built_in())
        report_problem(
            problems, severity::error, settings.backend.location, "backend",
            "this has no effect: the connections of every frontend go to an upstream block",
            "Leave it out, or make it a server of the block.");
    for (upstream_config const& each : settings.upstreams)
        if (!used.contains(*each.name))
            report_problem(
                problems, severity::warning, each.location, "upstream",
                fmt::format("no frontend uses the upstream {}", *each.name),
                fmt::format(
                    "Write upstream = \"{}\", for all frontends, or in a frontend or route.",
                    *each.name));
}

void check_routes(config const& settings, std::vector<problem>& problems)
{
    for (frontend_config const& each : settings.frontends)
        if (!each.routes.empty())
            route_check{settings, each, problems}.run();
}

} // namespace cleat::app
