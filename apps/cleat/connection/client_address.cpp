#include "connection/client_address.hpp"

#include <cstddef>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app {

std::span<std::uint8_t const> address_bytes(net::address const& address) noexcept
{
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(address.data());
    switch (address.family()) {
    case AF_INET:
        return {bytes + offsetof(sockaddr_in, sin_addr), sizeof(in_addr)};
    case AF_INET6:
        return {bytes + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)};
    default:
        return {};
    }
}

std::span<std::uint8_t const> client_bytes(
    admission const* rules, net::address const& peer, inbound_header const* header) noexcept
{
    bool const is_named =
        rules != nullptr && rules->proxies && header != nullptr && header->has_addresses();
    return is_named ? ip_bytes(header->source) : address_bytes(peer);
}

} // namespace cleat::app
