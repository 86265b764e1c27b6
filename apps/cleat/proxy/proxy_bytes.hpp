// proxy_bytes: the bytes that headers of both versions are made of, for their reader and writer.
// Not for others.

#pragma once

#include "proxy/proxy_protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::app::proxy_bytes {

using bytes_view = std::span<std::uint8_t const>;

inline constexpr std::string_view signature_v2{"\r\n\r\n\0\r\nQUIT\n", 12};
inline constexpr std::string_view start_v1 = "PROXY ";
inline constexpr std::size_t line_v1_max = 107; // section 2.1: "worst case"
inline constexpr std::size_t head_v2 = 16;      // signature, version and command, family, length
inline constexpr std::size_t tlv_head = 3;      // type, length
inline constexpr std::size_t crc_size = 4;

inline constexpr char version_2_local = 0x20;
inline constexpr char version_2_proxy = 0x21;

// The family byte (section 2.2) of one family over a stream, and the sizes of its addresses.
struct family_facts
{
    std::uint8_t code; // high four bits
    std::size_t address_size;
    std::size_t port_size;
};

constexpr family_facts facts_of(address_family family)
{
    switch (family) {
    case address_family::ipv4:
        return {1, 4, 2};
    case address_family::ipv6:
        return {2, 16, 2};
    case address_family::unix_socket:
        return {3, 108, 0};
    case address_family::unspecified:
        break;
    }
    return {0, 0, 0};
}

inline bytes_view as_bytes(std::string_view text)
{
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

inline std::string_view as_text(bytes_view bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

} // namespace cleat::app::proxy_bytes
