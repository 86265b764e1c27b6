#include "connection/client_address.hpp"
#include "connection/limited_client.hpp"
#include "worker/worker_service.hpp"

#include <cstdint>
#include <span>

namespace cleat::app {
namespace {

error_code error_of(client_table::verdict found) noexcept
{
    switch (found) {
    case client_table::verdict::admitted:
        break;
    case client_table::verdict::too_many_connections:
        return error::client_connection_limit;
    case client_table::verdict::too_many_handshakes:
        return error::client_handshake_limit;
    }
    return {};
}

} // namespace

error_code check_open_connections(frontend_socket const& frontend) noexcept
{
    worker_connections& all = frontend.service.connections();
    if (all.open() >= all.limits().connections_max())
        return error::connection_limit;
    if (frontend.open->open >= frontend.connections_max)
        return error::frontend_connection_limit;
    return {};
}

limited_client::~limited_client()
{
    if (limits_ != nullptr)
        limits_->release(place_);
}

error_code limited_client::admit(
    frontend_socket const& frontend, net::socket& accepted, net::address const& peer,
    inbound_header const* header) noexcept
{
    error_code ec = check_client(frontend.plan.admission.get(), peer, header);
    if (!ec && frontend.clients.is_on())
        ec = count(frontend, frontend.clients, peer, header);
    if (ec)
        accepted.reset();
    return ec;
}

error_code limited_client::count(
    frontend_socket const& frontend, client_scope const& scope, net::address const& peer,
    inbound_header const* header) noexcept
{
    std::span<std::uint8_t const> const client =
        client_bytes(frontend.plan.admission.get(), peer, header);
    if (client.empty() || (header != nullptr && header->is_local))
        return {};
    worker_connections& connections = frontend.service.connections();
    worker_limits::client_answer const found =
        connections.limits().admit(scope, client, connections.worker().now());
    if (found.is_shared)
        connections.counts().traffic.add(traffic_count::limits_shared);
    if (found.place.place.number != client_table::place::none) {
        limits_ = &connections.limits();
        place_ = found.place;
    }
    return error_of(found.verdict);
}

} // namespace cleat::app
