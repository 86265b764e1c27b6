#include "proxy/inbound_header.hpp"
#include "proxy/tlv_names.hpp"

#include <fmt/format.h>

#include <optional>

namespace cleat::app {

inbound_header keep(std::span<std::uint8_t const> bytes, proxy_reading const& reading)
{
    inbound_header made;
    if (reading.verdict == proxy_verdict::malformed) {
        made.fault = describe_fault(reading.fault);
        if (reading.fault_tlv != 0)
            made.fault += fmt::format(": {}", tlv_name(reading.fault_tlv));
        return made;
    }
    proxy_header const& found = reading.header;
    made.bytes.assign(reinterpret_cast<char const*>(bytes.data()), found.size);
    made.is_local = found.is_local;
    made.source = found.source;
    made.destination = found.destination;
    made.tlvs_size = found.tlvs.size();
    return made;
}

std::span<std::uint8_t const> ip_bytes(socket_address const& address) noexcept
{
    std::span<std::uint8_t const> const all{address.bytes};
    switch (address.family) {
    case address_family::ipv4:
        return all.first(4);
    case address_family::ipv6:
        return all.first(16);
    case address_family::unspecified:
    case address_family::unix_socket:
        break;
    }
    return {};
}

std::string_view unique_id_of(inbound_header const& header) noexcept
{
    std::span<std::uint8_t const> rest = header.tlvs();
    while (std::optional<tlv> const each = next_tlv(rest))
        if (each->type == tlv_type::unique_id)
            return {reinterpret_cast<char const*>(each->value.data()), each->value.size()};
    return {};
}

} // namespace cleat::app
