#include "acme/challenge.hpp"
#include "acme/challenge_answer.hpp"
#include "passthrough/passthrough.hpp"
#include "passthrough/receive_hello.hpp"
#include "route_choice.hpp"
#include "serve_by_hello.hpp"

#include <cleat/core/error.hpp>

#include <string>
#include <utility>

namespace cleat::app {
namespace {

bool has_passthrough(frontend_socket const& frontend) noexcept
{
    return frontend.plan.routes && frontend.plan.routes->table.has_passthrough();
}

} // namespace

bool reads_hello_first(frontend_socket const& frontend) noexcept
{
    return has_passthrough(frontend) || answers_challenges(frontend);
}

net::task<bool> serve_by_hello(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    net::address const& peer, inbound_header const* proxy_header, connection_log& log,
    byte_queue& read_before)
{
    received_hello hello;
    error_code const failed = co_await receive_hello(interrupt, accepted, hello);
    if (failed) {
        log.hello_failed(failed, !hello.bytes.empty());
        co_return true;
    }
    if (hello.status == tls::client_hello_reader::status::complete) {
        tls::hello_facts const& facts = hello.reader.facts();
        worker_upstream* const upstream =
            has_passthrough(frontend) ? choose_passthrough(frontend, facts, peer, proxy_header)
                                      : nullptr;
        if (upstream != nullptr) {
            co_await pass_through(
                interrupt, frontend, *upstream, accepted, peer, proxy_header, log, hello);
            co_return true;
        }
        if (answers_challenges(frontend) && is_challenge(facts)) {
            co_await answer_challenge(
                interrupt, frontend, accepted, std::string{facts.server_name},
                std::move(hello.bytes), log);
            co_return true;
        }
    }
    read_before = std::move(hello.bytes);
    co_return false;
}

} // namespace cleat::app
