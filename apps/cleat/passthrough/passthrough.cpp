#include "announce.hpp"
#include "client_address.hpp"
#include "connect.hpp"
#include "passthrough/passthrough.hpp"
#include "passthrough/plain_client.hpp"
#include "passthrough/receive_hello.hpp"
#include "relay.hpp"
#include "route_choice.hpp"
#include "upstream/upstream_choice.hpp"
#include "upstream_side.hpp"
#include "worker_service.hpp"

#include <cleat/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace cleat::app {
namespace {

// A client reads a fatal alert in plaintext until it has a ServerHello (RFC 8446, section 6).
constexpr std::array<std::uint8_t, 7> internal_error_alert{21, 3, 3, 0, 2, 2, 80};

// From the upstream's choice to the end.
net::task<> hand_on(
    net::interrupt& interrupt, frontend_socket const& frontend, worker_upstream& upstream,
    net::socket& accepted, net::address const& peer, inbound_header const* proxy_header,
    connection_log& log, received_hello& hello)
{
    config const& settings = frontend.service.configuration().settings;
    plain_client client{std::move(accepted)};
    std::span<std::byte const> const first = first_bytes_of_passthrough(
        settings, client.socket, peer, proxy_header, hello.reader.facts().server_name,
        hello.bytes.front());
    log.traffic().add_up(hello.bytes.size());
    upstream_choice choice{
        upstream, client_key(client_bytes(frontend.plan.admission.get(), peer, proxy_header))};
    result<upstream_side> connected =
        co_await connect(interrupt, choice, first, *settings.backend_connect_timeout);
    if (!connected) {
        log.connect_failed(connected.error(), choice.name());
        // Best effort: a client that has sent more than its ClientHello may get an RST instead.
        static_cast<void>(client.socket.send(std::as_bytes(std::span{internal_error_alert})));
        co_return;
    }
    log.connected(choice.address());
    hello = {}; // A connection that stays keeps nothing of it.

    try {
        relay_outcome const outcome = co_await relay(
            interrupt, client, *connected, {.idle = *settings.idle_timeout}, log.traffic());
        log.ended(outcome.reason, outcome.error);
    } catch (std::bad_alloc const&) {
        connected->socket.reset(); // As in terminate.
    }
}

} // namespace

net::task<bool> pass_through(
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
    worker_upstream* upstream = nullptr;
    if (hello.status == tls::client_hello_reader::status::complete)
        upstream = choose_passthrough(frontend, hello.reader.facts(), peer, proxy_header);
    if (upstream == nullptr) {
        read_before = std::move(hello.bytes);
        co_return false;
    }
    log.passthrough_begins(hello.reader.facts().server_name, hello.reader.message());
    co_await hand_on(interrupt, frontend, *upstream, accepted, peer, proxy_header, log, hello);
    co_return true;
}

} // namespace cleat::app
