#include "connection/client_address.hpp"
#include "limits/limited_client.hpp"
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
    worker_connections const& all = frontend.service.connections();
    if (all.open() >= all.limits().connections_max())
        return error::connection_limit;
    if (frontend.open->open >= frontend.connections_max)
        return error::frontend_connection_limit;
    return {};
}

limited_client::~limited_client()
{
    if (place_.place.number != client_table::place::none)
        frontend_.service.connections().limits().release(place_);
}

error_code limited_client::admit(
    net::socket& accepted, net::address const& peer, inbound_header const* header) noexcept
{
    error_code const ec = check(peer, header);
    if (ec)
        accepted.reset();
    return ec;
}

error_code limited_client::check(net::address const& peer, inbound_header const* header) noexcept
{
    if (error_code const ec = check_client(frontend_.plan.admission.get(), peer, header))
        return ec;
    return frontend_.service.connections().limits().limits_clients() ? count(peer, header)
                                                                     : error_code{};
}

error_code limited_client::count(net::address const& peer, inbound_header const* header) noexcept
{
    worker_connections& connections = frontend_.service.connections();
    std::span<std::uint8_t const> const client =
        client_bytes(frontend_.plan.admission.get(), peer, header);
    if (client.empty() || (header != nullptr && header->is_local))
        return {};
    worker_limits::client_answer const found =
        connections.limits().admit(client, connections.worker().now());
    if (found.is_shared)
        connections.counts().traffic.add(traffic_count::limits_shared);
    place_ = found.place;
    return error_of(found.verdict);
}

} // namespace cleat::app
