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

// The facts about the client that are known before TLS begins. It borrows from the arguments.
route_question question_of(
    frontend_explanation const& made, std::string_view server_name,
    std::vector<unsigned char> const& offered, std::optional<ip_address> const& address)
{
    return {
        .server_name = server_name,
        .agreed = made.protocol ? std::string_view{*made.protocol} : std::string_view{},
        .offered = offered,
        .client = address};
}

// As choose_by_hello: the route that takes a client without a certificate.
planned_route const* settings_route(route_plan const& routes, route_question question)
{
    question.is_established = true;
    std::optional<route_table::number> const chosen = routes.table.choose(question);
    return chosen ? &routes.routes[*chosen] : nullptr;
}

// `without_certificate` is the route that takes the client without one; null: none does.
void explain_route(
    frontend_explanation& made, route_plan const& routes, route_question const& question,
    planned_route const* without_certificate)
{
    made.has_routes = true;
    std::optional<route_table::number> const by_hello = routes.table.choose(question);
    bool const is_passthrough = by_hello && routes.routes[*by_hello].is_passthrough;
    if (is_passthrough) {
        made.refusal = explained_refusal::none;
        made.route = routes.routes[*by_hello];
    } else if (made.refusal == explained_refusal::none) {
        if (without_certificate != nullptr)
            made.route = *without_certificate;
        for (route_table::number const each : routes.table.routes_by_certificate(question))
            made.by_certificate.push_back(routes.routes[each]);
    }
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
    made.limit = limit_of(configuration, plan);
    made.announcement = configuration.announcements.front();
    if (!plan.routes)
        return made;
    made.has_routes = true;
    std::optional<route_table::number> const chosen =
        plan.routes->table.choose({.client = address, .is_established = true});
    if (!chosen)
        return made;
    made.route = plan.routes->routes[*chosen];
    made.upstream = made.route->upstream;
    made.announcement = configuration.announcements[made.route->announcement];
    if (made.route->limit)
        made.route_limit = configuration.limits.routes[*made.route->limit];
    return made;
}

void explain_certificates(
    frontend_explanation& made, snapshot const& configuration, tls_plan const& speaks,
    std::string_view server_name)
{
    CLEAT_ASSERT(speaks.certificates != nullptr);
    tls::certificate_choice const choice{
        *speaks.certificates, tls::certificate_choice::rules_of(speaks.spec)};
    tls::certificate_choice::selection const found = choice.select(server_name);
    made.why = found.why;
    for (tls::candidate const& each : found.candidates)
        made.certificates.push_back(
            {configuration.catalog.store->origin(each.number),
             std::string{tls::key_name(each.type)}});
    if (found.candidates.empty()) // The handshake ends before ALPN.
        made.refusal = explained_refusal::unrecognized_name;
}

void explain_verification(frontend_explanation& made, tls_plan const& speaks)
{
    made.verification = speaks.spec.verify;
    made.authorities = speaks.spec.verify_origin;
    if (speaks.clients != nullptr && speaks.clients->has_rules)
        made.client_rules = speaks.clients->rules.size();
    // Certificates with a name in common have the same rule.
    if (made.certificates.empty())
        return;
    auto const own = speaks.client_rules.find(made.certificates.front().files);
    if (own == speaks.client_rules.end())
        return;
    made.verification = own->second.verify;
    made.authorities = own->second.origin;
}

// Its TLS is the upstream's.
void explain_passthrough(frontend_explanation& made)
{
    made.certificates.clear();
    made.versions.clear();
    made.protocol.reset();
    made.verification = tls::peer_verification::none;
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
    tls_plan const& usual = tls_of(configuration, plan);
    frontend_explanation made;
    made.frontend = plan.name;
    made.upstream = plan.upstream;
    made.rules = plan.admission.get();
    made.limit = limit_of(configuration, plan);
    made.protocols = usual.spec.alpn;
    bool const has_alpn = !usual.spec.alpn.empty() && !offered.empty();
    if (has_alpn)
        made.protocol = agreed_protocol(usual.spec.alpn, offered);
    std::vector<unsigned char> const theirs = tls::alpn_on_wire(offered);
    route_question const question = question_of(made, server_name, theirs, address);
    planned_route const* const settings =
        plan.routes ? settings_route(*plan.routes, question) : nullptr;
    tls_plan const& speaks = settings == nullptr ? usual : configuration.tls[settings->tls];

    explain_certificates(made, configuration, speaks, server_name);
    made.versions = version_names(speaks.spec);
    if (made.refusal == explained_refusal::none && has_alpn && !made.protocol)
        made.refusal = explained_refusal::no_application_protocol;
    if (plan.routes)
        explain_route(made, *plan.routes, question, settings);
    explain_verification(made, speaks);
    bool const is_passthrough = made.route && made.route->is_passthrough;
    made.announcement = configuration.announcements[made.route ? made.route->announcement : 0];
    planned_route const* const limited = is_passthrough ? &*made.route : settings;
    if (limited != nullptr && limited->limit)
        made.route_limit = configuration.limits.routes[*limited->limit];
    if (!is_passthrough && !configuration.challenge_folder.empty() &&
        is_challenge({.server_name = server_name, .protocols = theirs}))
        made.challenge =
            tls::origin_of(challenge_files(configuration.challenge_folder, server_name).front());
    if (is_passthrough) {
        explain_passthrough(made);
        return made;
    }
    if (settings != nullptr && (&speaks != &usual || settings->limit))
        made.settings = *settings;
    made.has_tickets = speaks.spec.tickets != nullptr || !speaks.spec.ticket_ratchets.empty();
    made.ticket_lifetime = *configuration.settings.ticket_lifetime;
    made.ticket_file = *configuration.settings.ticket_secret;
    return made;
}

std::string sni_of(std::string const& name)
{
    return tls::is_ip_address(name) ? std::string{} : name;
}

} // namespace cleat::app
