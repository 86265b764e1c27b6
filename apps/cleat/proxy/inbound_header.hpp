// inbound_header: the PROXY header that a connection began with, kept for as long as the connection
// lasts.

#pragma once

#include "proxy/proxy_protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// inbound_header has what read_proxy_header has found.
struct inbound_header
{
    std::string bytes;     ///< As they came; empty: none has come.
    bool is_local = false; ///< The balancer's own connection: a health check.
    /// Of family `unspecified` where the header has none.
    socket_address source;
    socket_address destination;
    std::size_t tlvs_size = 0; ///< The TLVs are the last bytes.
    std::string fault;         ///< Where the bytes were no header: what is wrong with them.

    /// has_addresses: the client is another one than the peer.
    [[nodiscard]] bool has_addresses() const noexcept
    {
        return source.family != address_family::unspecified;
    }

    [[nodiscard]] std::span<std::uint8_t const> tlvs() const noexcept
    {
        std::span const all{reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()};
        return all.last(tlvs_size);
    }
};

/// keep is the header that a reading has found at the beginning of the bytes, or its fault.
[[nodiscard]] inbound_header keep(
    std::span<std::uint8_t const> bytes, proxy_reading const& reading);

/// ip_bytes are the 4 or 16 bytes of an IP address; none for another family.
[[nodiscard]] std::span<std::uint8_t const> ip_bytes(socket_address const& address) noexcept;

/// unique_id_of is the value of the TLV UNIQUE_ID, or empty.
[[nodiscard]] std::string_view unique_id_of(inbound_header const& header) noexcept;

} // namespace cleat::app
