#include "acme/challenge_maker.hpp"
#include "connection/client_closing.hpp"
#include "connection/handshake.hpp"
#include "connection/plaintext_alert.hpp"
#include "relay/client_side.hpp"
#include "serve/challenge_answer.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>

#include <utility>

namespace cleat::app {
namespace {

challenge question(frontend_socket const& frontend, std::string server_name)
{
    return {
        .folder = frontend.service.configuration().challenge_folder,
        .server_name = std::move(server_name),
        .version_min = frontend.policy.plan->spec.version_min,
        .version_max = frontend.policy.plan->spec.version_max};
}

} // namespace

bool answers_challenges(frontend_socket const& frontend) noexcept
{
    return !frontend.service.configuration().challenge_folder.empty();
}

net::task<> answer_challenge(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    std::string server_name, byte_queue hello, connection_log& log)
{
    challenge_maker::place const place{frontend.service.connections().challenges()};
    made_challenge made{.refusal = "too many challenges are under way"};
    if (place.is_taken()) {
        error_code const interrupted = co_await challenge_arrival{
            frontend.service.connections().challenges(), interrupt, question(frontend, server_name),
            made};
        if (interrupted)
            co_return log.hello_failed(interrupted, true);
    }
    if (made.context == nullptr) {
        log.challenge_refused(server_name, made.refusal);
        send_plaintext_alert(accepted, alert_unrecognized_name);
        co_return;
    }
    client_side client{std::move(accepted), net::channel{*made.context}};
    client.channel.feed(std::move(hello));
    error_code const failed =
        co_await handshake(interrupt, client, {frontend.service.connections().half_open()}, &log);
    if (failed)
        co_return log.handshake_failed(failed, client.channel.engine());
    co_await dismiss_client(interrupt, client);
    log.ended(close_reason::done, {}, &client.channel.engine());
}

} // namespace cleat::app
