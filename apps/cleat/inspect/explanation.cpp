#include "acme/challenge.hpp"
#include "inspect/explanation.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/alpn.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/context_settings.hpp>

#include <utility>

namespace cleat::app {
namespace {

std::vector<std::string> version_names(tls::context_spec const& spec)
{
    tls::certificate_choice::rules const rules = tls::certificate_choice::rules_of(spec);
    std::vector<std::string> names;
    if (rules.tls_1_3)
        names.emplace_back("TLS 1.3");
    if (rules.tls_1_2)
        names.emplace_back("TLS 1.2");
    return names;
}

std::optional<std::string> agreed_protocol(
    std::vector<std::string> const& supported, std::vector<std::string> const& offered)
{
    std::vector<unsigned char> const ours = tls::alpn_on_wire(supported);
    std::vector<unsigned char> const theirs = tls::alpn_on_wire(offered);
    std::optional<std::string_view> const found = tls::choose_protocol(ours, theirs);
    return found ? std::optional{std::string{*found}} : std::nullopt;
}

// As choose_passthrough, before the handshake: its outcome is not known then.
void explain_route(
    frontend_explanation& made, route_plan const& routes, std::string_view server_name,
    std::vector<std::string> const& offered, std::optional<ip_address> const& address)
{
    made.has_routes = true;
    std::vector<unsigned char> const theirs = tls::alpn_on_wire(offered);
    std::optional<route_table::number> const chosen = routes.table.choose(
        {.server_name = server_name,
         .agreed = made.protocol ? std::string_view{*made.protocol} : std::string_view{},
         .offered = theirs,
         .client = address});
    if (!chosen)
        return;
    made.route = routes.routes[*chosen];
    if (made.route->is_passthrough)
        made.refusal = explained_refusal::none;
    else if (made.refusal != explained_refusal::none)
        made.route.reset();
    if (made.route)
        made.upstream = made.route->upstream;
}

// As choose_for_plaintext.
frontend_explanation explain_plaintext(
    snapshot const& configuration, frontend_plan const& plan,
    std::optional<ip_address> const& address)
{
    frontend_explanation made;
    made.takes_plaintext = true;
    made.frontend = plan.name;
    made.upstream = plan.upstream;
    made.rules = plan.admission.get();
    made.connections_max = limit_of(configuration, plan).connections;
    if (!plan.routes)
        return made;
    made.has_routes = true;
    std::optional<route_table::number> const chosen =
        plan.routes->table.choose({.client = address, .is_established = true});
    if (!chosen)
        return made;
    made.route = plan.routes->routes[*chosen];
    made.upstream = made.route->upstream;
    return made;
}

} // namespace

std::string_view to_string(explained_refusal refusal) noexcept
{
    switch (refusal) {
    case explained_refusal::none:
        break;
    case explained_refusal::unrecognized_name:
        return "unrecognized_name";
    case explained_refusal::no_application_protocol:
        return "no_application_protocol";
    }
    return "none";
}

frontend_explanation explain_frontend(
    snapshot const& configuration, frontend_plan const& plan, std::string_view server_name,
    std::vector<std::string> const& offered, std::optional<ip_address> const& address)
{
    if (plan.takes_plaintext)
        return explain_plaintext(configuration, plan, address);
    CLEAT_ASSERT(plan.certificates != nullptr);
    tls::certificate_set const& set = *plan.certificates;
    tls::certificate_choice const choice{set, tls::certificate_choice::rules_of(plan.tls)};
    tls::certificate_choice::selection const found = choice.select(server_name);

    frontend_explanation made;
    made.frontend = plan.name;
    made.upstream = plan.upstream;
    made.rules = plan.admission.get();
    made.connections_max = limit_of(configuration, plan).connections;
    made.why = found.why;
    for (tls::candidate const& each : found.candidates)
        made.certificates.push_back(
            {configuration.catalog.store->origin(each.number),
             std::string{tls::key_name(each.type)}});
    made.versions = version_names(plan.tls);
    made.protocols = plan.tls.alpn;
    bool const has_alpn = !plan.tls.alpn.empty() && !offered.empty();
    if (has_alpn)
        made.protocol = agreed_protocol(plan.tls.alpn, offered);
    if (found.candidates.empty()) // The handshake ends before ALPN.
        made.refusal = explained_refusal::unrecognized_name;
    else if (has_alpn && !made.protocol)
        made.refusal = explained_refusal::no_application_protocol;
    if (plan.routes)
        explain_route(made, *plan.routes, server_name, offered, address);
    made.verification = plan.tls.verify;
    made.authorities = plan.tls.verify_origin;
    if (plan.clients != nullptr && plan.clients->has_rules)
        made.client_rules = plan.clients->rules.size();
    // Certificates with a name in common have the same rule.
    if (!made.certificates.empty())
        if (auto const own = plan.client_rules.find(made.certificates.front().files);
            own != plan.client_rules.end()) {
            made.verification = own->second.verify;
            made.authorities = own->second.origin;
        }
    std::vector<unsigned char> const theirs = tls::alpn_on_wire(offered);
    bool const is_passthrough = made.route && made.route->is_passthrough;
    if (!is_passthrough && !configuration.challenge_folder.empty() &&
        is_challenge({.server_name = server_name, .protocols = theirs}))
        made.challenge =
            tls::origin_of(challenge_files(configuration.challenge_folder, server_name).front());
    if (is_passthrough) { // Its TLS is the upstream's.
        made.certificates.clear();
        made.versions.clear();
        made.protocol.reset();
        made.verification = tls::peer_verification::none;
        return made;
    }
    made.has_tickets = plan.tls.tickets != nullptr;
    made.rotation = plan.tls.ticket_rotation;
    return made;
}

std::string sni_of(std::string const& name)
{
    return tls::is_ip_address(name) ? std::string{} : name;
}

} // namespace cleat::app
