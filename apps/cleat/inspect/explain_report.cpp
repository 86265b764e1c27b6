#include "connection/client_address.hpp"
#include "inspect/explain_report.hpp"
#include "inspect/json_text.hpp"
#include "limits/limit_text.hpp"
#include "system/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

using reason = tls::certificate_choice::selection::reason;

void print_row(std::string_view label, std::string text)
{
    fmt::print("  {:<12} {}\n", label, printable(std::move(text)));
}

std::string_view reason_name(reason why) noexcept
{
    switch (why) {
    case reason::exact_name:
        return "exact";
    case reason::wildcard:
        return "wildcard";
    case reason::no_name:
        return "no-sni";
    case reason::unknown_name:
        return "default";
    case reason::refused_name:
        break;
    }
    return "refused";
}

std::string name_text(reason why, std::string const& name)
{
    switch (why) {
    case reason::exact_name:
        return fmt::format("{}: a certificate has this name", name);
    case reason::wildcard:
        return fmt::format("{}: a certificate has a wildcard for it", name);
    case reason::unknown_name:
        return fmt::format("{}: no certificate has this name, so the default is shown", name);
    case reason::refused_name:
        return fmt::format("{}: no certificate has this name", name);
    case reason::no_name:
        break;
    }
    if (name.empty())
        return "none, so the default is shown";
    return fmt::format("none, since {} is an address: the default is shown", name);
}

// The order is that of certificate_choice: a client gets the first that it can verify.
void print_certificates(frontend_explanation const& one)
{
    std::string_view label = "certificate";
    for (std::size_t i = 0; i < one.certificates.size(); ++i) {
        explained_certificate const& each = one.certificates[i];
        // Every client verifies RSA, which is the last.
        std::string_view const whom = one.certificates.size() == 1 ? "for every client"
                                      : each.key == "RSA"          ? "for the others"
                                      : i == 0                     ? "for clients that verify it"
                                                                   : "for others that verify it";
        print_row(std::exchange(label, ""), fmt::format("{}, {}, {}", each.key, whom, each.files));
    }
}

std::string protocol_text(frontend_explanation const& one, std::vector<std::string> const& offered)
{
    if (one.protocols.empty())
        return offered.empty() ? "none: alpn-protos is not set"
                               : "none, and the client's is ignored: alpn-protos is not set";
    if (offered.empty())
        return "none: the client offers none";
    return fmt::format(
        "{}: the first of {} that the client offers", one.protocol.value_or("none"),
        fmt::join(one.protocols, ", "));
}

std::string rules_text(frontend_explanation const& one)
{
    if (!one.client_rules)
        return {};
    return *one.client_rules == 1 ? std::string{", and meet the rule"}
                                  : fmt::format(", and meet one of {} rules", *one.client_rules);
}

std::string verification_text(frontend_explanation const& one)
{
    switch (one.verification) {
    case tls::peer_verification::none:
        break;
    case tls::peer_verification::optional:
        return fmt::format(
            "optional: if the client sends one, it must verify by {}{}", one.authorities,
            rules_text(one));
    case tls::peer_verification::required:
        return fmt::format("required: it must verify by {}{}", one.authorities, rules_text(one));
    }
    return "not requested";
}

std::string_view verification_name(tls::peer_verification verification) noexcept
{
    switch (verification) {
    case tls::peer_verification::none:
        break;
    case tls::peer_verification::optional:
        return "optional";
    case tls::peer_verification::required:
        return "required";
    }
    return "none";
}

std::string_view announcement_name(announcement kind) noexcept
{
    switch (kind) {
    case announcement::nothing:
        break;
    case announcement::write_ip:
        return "write-ip";
    case announcement::write_proxy_v1:
        return "write-proxy-v1";
    case announcement::write_proxy_v2:
        return "write-proxy-v2";
    case announcement::proxy_proxy:
        return "proxy-proxy";
    }
    return "nothing";
}

std::string announcement_text(announcement kind, std::string const& address)
{
    std::string const client = address.empty() ? "the client's address" : address;
    if (kind == announcement::nothing)
        return fmt::format("none with {}: neither write-proxy nor write-ip is set", client);
    if (kind == announcement::proxy_proxy)
        return "the PROXY header that comes before TLS, unchanged (proxy-proxy)";
    return fmt::format("{}, with {}", announcement_name(kind), client);
}

std::string route_text(frontend_explanation const& one)
{
    if (!one.route)
        return "none matches; the frontend's upstream is used";
    return fmt::format("{} ({})", one.route->text, to_string(one.route->location));
}

// The error for a client with this address; also for the peer, where a PROXY header is expected.
error_code admission_of(admission const* rules, std::string const& address)
{
    result<std::vector<net::address>> const found = net::resolve(address, "0");
    if (rules == nullptr || !found || found->empty())
        return {};
    return rules->check_client(address_bytes(found->front()));
}

bool has_client_lists(admission const* rules) noexcept
{
    return rules != nullptr && (rules->allowed || rules->denied);
}

std::string admission_text(admission const& rules, std::string const& address)
{
    if (address.empty())
        return "depends on the address: add --from ADDRESS";
    error_code const why = admission_of(&rules, address);
    return why ? fmt::format("no: {} ({})", why.message(), name_of(static_cast<error>(why.value())))
               : "yes, by allow-from and deny-from";
}

// The address is resolved into `room`, of which the limits have a part.
explained_limits limits_of(
    frontend_explanation const& one, std::string const& address, snapshot const& configuration,
    net::address& room)
{
    explained_limits found{
        .all = configuration.limits, .frontend = one.limit, .route = one.route_limit};
    result<std::vector<net::address>> const resolved = net::resolve(address, "0");
    if (address.empty() || !resolved || resolved->empty())
        return found;
    room = resolved->front();
    found.address = address_bytes(room);
    return found;
}

// The peers that send a header, and what becomes of it.
std::string proxy_text(admission const& rules, announcement_rule const& rule)
{
    bool const passes_on = rule.way == announcement::write_proxy_v2;
    return fmt::format(
        "expected from the {} prefixes of proxy-from; it names the client{}", rules.proxies->size(),
        !passes_on                            ? ""
        : rule.received == inbound_tlvs::keep ? "; its TLVs are kept, but for ALPN, "
                                                "AUTHORITY, SSL, CRC32C and NOOP"
                                              : "; its TLVs are dropped");
}

std::vector<std::string> addresses_of(upstream_plan const& upstream)
{
    std::vector<std::string> found;
    for (server_plan const& server : upstream.servers)
        for (net::address const& each : server.addresses)
            found.push_back(net::to_string(each));
    return found;
}

void print_destination(
    frontend_explanation const& one, explain_client const& request, snapshot const& configuration)
{
    if (one.has_routes)
        print_row("route", route_text(one));
    print_row("upstream", describe(configuration.upstreams[one.upstream]));
    for (planned_route const& each : one.by_certificate)
        print_row(
            "cert route", fmt::format(
                              "{}: {} ({})", each.text, configuration.upstreams[each.upstream].name,
                              to_string(each.location)));
    print_row("header", announcement_text(one.announcement.way, request.address));
}

// Null where it depends on an address that is not known.
std::string admission_json(admission const* rules, std::string const& address)
{
    if (has_client_lists(rules) && address.empty())
        return "null";
    error_code const why = address.empty() ? error_code{} : admission_of(rules, address);
    return json_string(why ? name_of(static_cast<error>(why.value())) : "allowed");
}

std::string resumption_text(frontend_explanation const& one)
{
    if (!one.has_tickets)
        return "none";
    return fmt::format(
        "session tickets for {} seconds; their secret is {}", one.ticket_lifetime.count(),
        one.ticket_file.empty() ? "random, and lost at a restart" : "in " + one.ticket_file);
}

void print_explanation(
    frontend_explanation const& one, explain_client const& request, snapshot const& configuration)
{
    fmt::print("{}\n", one.frontend);
    if (has_client_lists(one.rules))
        print_row("admission", admission_text(*one.rules, request.address));
    net::address room;
    explained_limits const limits = limits_of(one, request.address, configuration, room);
    if (!limits.is_empty())
        print_row("limits", describe(limits));
    if (one.rules != nullptr && one.rules->proxies)
        print_row("proxy header", proxy_text(*one.rules, one.announcement));
    if (one.takes_plaintext)
        print_row("plaintext", "client is on: the client speaks no TLS, and the upstream does");
    if (one.takes_plaintext || (one.route && one.route->is_passthrough))
        return print_destination(one, request, configuration);
    if (!one.challenge.empty())
        return print_row(
            "acme",
            fmt::format(
                "a challenge: the client gets the certificate in {}, and the connection ends",
                one.challenge));
    if (one.settings)
        print_row(
            "settings",
            fmt::format(
                "of the route {} ({})", one.settings->text, to_string(one.settings->location)));
    print_row("sni", name_text(one.why, request.server_name));
    if (one.refusal == explained_refusal::unrecognized_name)
        return print_row("refused", "with the alert unrecognized_name: sni-nomatch-abort is set");
    print_certificates(one);
    print_row("versions", fmt::format("{}", fmt::join(one.versions, ", ")));
    if (one.refusal == explained_refusal::no_application_protocol)
        return print_row(
            "refused",
            fmt::format(
                "with the alert no_application_protocol: it offers {}, and alpn-protos has {}",
                fmt::join(request.alpn, ", "), fmt::join(one.protocols, ", ")));
    print_row("alpn", protocol_text(one, request.alpn));
    print_row("client cert", verification_text(one));
    print_row("resumption", resumption_text(one));
    print_destination(one, request, configuration);
}

std::string routes_json(std::vector<planned_route> const& routes, snapshot const& configuration)
{
    std::vector<std::string> found;
    for (planned_route const& each : routes)
        found.push_back(fmt::format(
            "{{\"route\": {}, \"upstream\": {}}}", json_string(to_string(each.location)),
            json_string(configuration.upstreams[each.upstream].name)));
    return fmt::format("{}", fmt::join(found, ", "));
}

} // namespace

void print_explanations(
    std::span<frontend_explanation const> all, explain_client const& request,
    snapshot const& configuration)
{
    std::string_view blank_line;
    for (frontend_explanation const& each : all) {
        fmt::print("{}", std::exchange(blank_line, "\n"));
        print_explanation(each, request, configuration);
    }
}

void print_explanations_json(
    std::span<frontend_explanation const> all, explain_client const& request,
    snapshot const& configuration)
{
    fmt::print(
        "{{\n  \"cleat_explain\": 1,\n  \"sni\": {},\n  \"alpn\": {},\n  \"frontends\": [",
        json_string(sni_of(request.server_name)), json_strings(request.alpn));
    std::string_view comma = "\n";
    for (frontend_explanation const& each : all) {
        upstream_plan const& upstream = configuration.upstreams[each.upstream];
        std::vector<std::string> certificates;
        for (explained_certificate const& one : each.certificates)
            certificates.push_back(fmt::format(
                "{{\"files\": {}, \"key\": {}}}", json_string(one.files), json_string(one.key)));
        std::string const refusal = json_string(to_string(each.refusal));
        net::address room;
        fmt::print(
            "{}    {{\n      \"frontend\": {},\n      \"plaintext\": {},\n      \"refusal\": {},\n"
            "      \"match\": \"{}\",\n"
            "      \"certificates\": [{}],\n      \"versions\": {},\n      \"alpn\": {},\n"
            "      \"client_verify\": \"{}\",\n      \"client_rules\": {},\n      \"tickets\": "
            "{},\n      \"settings\": {},\n      \"route\": {},\n"
            "      \"routes_by_certificate\": [{}],\n"
            "      \"passthrough\": {},\n      \"challenge\": {},\n"
            "      \"upstream\": {},\n"
            "      \"upstream_addresses\": {},\n      \"announcement\": \"{}\",\n"
            "      \"proxy_header\": {},\n      \"admission\": {},\n"
            "      \"limits\": {}\n    }}",
            std::exchange(comma, ",\n"), json_string(each.frontend),
            json_bool(each.takes_plaintext),
            each.refusal == explained_refusal::none ? "null" : refusal,
            each.takes_plaintext ? "none" : reason_name(each.why), fmt::join(certificates, ", "),
            json_strings(each.versions), each.protocol ? json_string(*each.protocol) : "null",
            verification_name(each.verification),
            each.client_rules ? fmt::format("{}", *each.client_rules) : "null",
            json_bool(each.has_tickets),
            each.settings ? json_string(to_string(each.settings->location)) : "null",
            each.route ? json_string(to_string(each.route->location)) : "null",
            routes_json(each.by_certificate, configuration),
            json_bool(each.route && each.route->is_passthrough),
            each.challenge.empty() ? "null" : json_string(each.challenge),
            json_string(upstream.name), json_strings(addresses_of(upstream)),
            announcement_name(each.announcement.way),
            json_bool(expects_proxy_header(configuration.settings, each.rules)),
            admission_json(each.rules, request.address),
            limits_json(limits_of(each, request.address, configuration, room)));
    }
    fmt::print("]\n}}\n");
}

} // namespace cleat::app
