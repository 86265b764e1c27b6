// client_address: the address of a connection's client, and whether it may connect. The client is
// the peer, or the one that a load balancer names in a PROXY header.

#pragma once

#include "admission/admission.hpp"
#include "config/config.hpp"
#include "proxy/inbound_header.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstdint>
#include <span>

namespace cleat::app {

/// address_bytes are the 4 or 16 bytes of an IP address, in network order; none for another family.
/// They are a part of the address.
[[nodiscard]] std::span<std::uint8_t const> address_bytes(net::address const& address) noexcept;

/// client_bytes are the address_bytes of the client. The PROXY header names the client only where
/// the rules list the balancers that may send one. The rules and the header may be null.
[[nodiscard]] std::span<std::uint8_t const> client_bytes(
    admission const* rules, net::address const& peer, inbound_header const* header) noexcept;

/// expects_proxy_header: a PROXY header comes before TLS.
[[nodiscard]] inline bool expects_proxy_header(
    config const& settings, admission const* rules) noexcept
{
    return (rules != nullptr && rules->proxies) || *settings.announce == announcement::proxy_proxy;
}

/// check_peer is the error for a peer that may not send a PROXY header.
[[nodiscard]] inline error_code check_peer(
    admission const* rules, net::address const& peer) noexcept
{
    return rules == nullptr ? error_code{} : rules->check_peer(address_bytes(peer));
}

/// check_client is the error for a client that may not connect. A balancer's health check may.
[[nodiscard]] inline error_code check_client(
    admission const* rules, net::address const& peer, inbound_header const* header) noexcept
{
    if (rules == nullptr || (header != nullptr && header->is_local))
        return {};
    return rules->check_client(client_bytes(rules, peer, header));
}

} // namespace cleat::app
