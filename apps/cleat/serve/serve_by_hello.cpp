#include "acme/challenge.hpp"
#include "connection/plaintext_alert.hpp"
#include "connection/receive_hello.hpp"
#include "connection/route_choice.hpp"
#include "connection/route_place.hpp"
#include "connection/triage.hpp"
#include "serve/challenge_answer.hpp"
#include "serve/passthrough.hpp"
#include "serve/serve_by_hello.hpp"
#include "worker/worker_service.hpp"

#include <optional>
#include <string>
#include <utility>

namespace cleat::app {
namespace {

// A route can decide by the ClientHello alone.
bool has_hello_routes(frontend_socket const& frontend) noexcept
{
    std::optional<route_plan> const& routes = frontend.plan.routes;
    return routes && (routes->table.has_passthrough() || routes->has_settings);
}

void end_in_line(
    error_code why, frontend_socket const& frontend, net::socket& accepted,
    connection_log& log) noexcept
{
    if (why != error::handshake_shed)
        return log.hello_failed(why, true);
    log.refused(why);
    if (*frontend.service.configuration().settings.handshake_shed == shed_answer::alert)
        send_plaintext_alert(accepted, alert_internal_error);
    else
        accepted.reset();
}

} // namespace

bool reads_hello_first(frontend_socket const& frontend) noexcept
{
    return has_hello_routes(frontend) || answers_challenges(frontend);
}

net::task<bool> serve_by_hello(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log,
    read_hello& hello)
{
    received_hello received;
    error_code const failed = co_await receive_hello(
        interrupt, frontend.service.connections().half_open(), accepted, received);
    if (failed) {
        log.hello_failed(failed, !received.bytes.empty());
        co_return true;
    }
    hello.time = interrupt.worker().now();
    if (received.status == tls::client_hello_reader::status::complete) {
        tls::hello_facts const& facts = received.reader.facts();
        hello_route chosen;
        if (has_hello_routes(frontend))
            chosen = choose_by_hello(frontend, facts, peer, proxy_header);
        bool const is_challenge_of_acme =
            chosen.passthrough == nullptr && answers_challenges(frontend) && is_challenge(facts);
        if (is_challenge_of_acme) {
            co_await answer_challenge(
                interrupt, frontend, accepted, std::string{facts.server_name},
                std::move(received.bytes), log);
            co_return true;
        }
        if (chosen.passthrough == nullptr && frontend.service.connections().line().is_crowded()) {
            error_code const ended = co_await take_turn(
                interrupt, frontend, accepted, *policy_of(frontend, chosen.settings).context, facts,
                hello.claim);
            if (ended) {
                end_in_line(ended, frontend, accepted, log);
                co_return true;
            }
        }
        planned_route const* const route =
            chosen.passthrough != nullptr ? chosen.passthrough : chosen.settings;
        if (!find_place(
                frontend, route, facts.server_name, accepted, peer, proxy_header, log,
                hello.place)) {
            hello.give_claim_back(); // It costs no signature.
            co_return true;
        }
        if (chosen.passthrough != nullptr) {
            co_await pass_through(
                interrupt, frontend, *chosen.passthrough, accepted, peer, proxy_header, log,
                received);
            co_return true;
        }
        hello.settings = chosen.settings;
    }
    hello.bytes = std::move(received.bytes);
    co_return false;
}

} // namespace cleat::app
