// client_address: the bytes of the address that a connection came from.

#pragma once

#include <cleat/net/socket_options.hpp>

#include <cstdint>
#include <span>

namespace cleat::app {

/// address_bytes are the 4 or 16 bytes of an IP address, in network order; none for another family.
/// They are a part of the address.
[[nodiscard]] std::span<std::uint8_t const> address_bytes(net::address const& address) noexcept;

} // namespace cleat::app
