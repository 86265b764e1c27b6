#include "proxy/proxy_bytes.hpp"
#include "proxy/proxy_protocol.hpp"

#include <cleat/core/limits.hpp>

#include <boost/system/errc.hpp>
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

using namespace proxy_bytes;

address_family common_family(connection_facts const& facts)
{
    return facts.source.family == facts.destination.family ? facts.source.family
                                                           : address_family::unspecified;
}

char low_byte(std::size_t number)
{
    return static_cast<char>(number & 0xff);
}

void append_u16(std::string& out, std::size_t number)
{
    out += low_byte(number >> 8);
    out += low_byte(number);
}

void append_u32(std::string& out, std::uint32_t number)
{
    append_u16(out, number >> 16);
    append_u16(out, number & 0xffff);
}

void put_u16(std::string& out, std::size_t position, std::size_t number)
{
    out[position] = low_byte(number >> 8);
    out[position + 1] = low_byte(number);
}

void append_bytes(std::string& out, bytes_view bytes)
{
    out.append(bytes.begin(), bytes.end());
}

// The text of an IP address. inet_ntop cannot fail: the family is known and the room is the
// largest.
std::string_view text_of(socket_address const& address, std::array<char, INET6_ADDRSTRLEN>& room)
{
    int const family = address.family == address_family::ipv4 ? AF_INET : AF_INET6;
    return inet_ntop(family, address.bytes.data(), room.data(), socklen_t{INET6_ADDRSTRLEN});
}

// A text too long for its length field makes the whole header too long, so the caller's limit
// refuses it.
void append_tlv(std::string& out, std::uint8_t type, std::string_view value)
{
    if (value.empty())
        return;
    out += static_cast<char>(type);
    append_u16(out, value.size());
    out += value;
}

void append_ssl_tlv(std::string& out, tls_facts const& tls)
{
    constexpr unsigned bit_ssl = 1;
    constexpr unsigned bit_certificate_in_connection = 2;
    constexpr unsigned bit_certificate_in_session = 4;
    unsigned client = bit_ssl;
    if (tls.client != client_certificate::none)
        client |= bit_certificate_in_session; // of this session, however old
    if (tls.client == client_certificate::in_this_connection)
        client |= bit_certificate_in_connection;

    out += static_cast<char>(tlv_type::ssl);
    std::size_t const length_at = out.size();
    append_u16(out, 0);
    out += low_byte(client);
    append_u32(out, tls.is_client_verified ? 0 : 1);
    append_tlv(out, tlv_type::ssl_version, tls.version);
    append_tlv(out, tlv_type::ssl_cn, tls.client_common_name);
    append_tlv(out, tlv_type::ssl_cipher, tls.cipher);
    append_tlv(out, tlv_type::ssl_sig_alg, tls.certificate_signature);
    append_tlv(out, tlv_type::ssl_key_alg, tls.certificate_key);
    append_tlv(out, tlv_type::ssl_group, tls.group);
    append_tlv(out, tlv_type::ssl_sig_scheme, tls.signature_scheme);
    put_u16(out, length_at, out.size() - length_at - 2);
}

// As they came, also empty ones. The bytes that were appended: at most limits::proxy_header_max,
// which the reader has checked.
std::size_t append_inbound(std::string& out, connection_facts const& facts)
{
    std::size_t const before = out.size();
    bytes_view rest = facts.inbound_tlvs;
    bytes_view whole = rest;
    while (std::optional<tlv> const each = next_tlv(rest)) {
        if (is_passed_on(each->type, facts))
            append_bytes(out, whole.first(whole.size() - rest.size()));
        whole = rest;
    }
    return out.size() - before;
}

void append_addresses_v2(std::string& out, connection_facts const& facts, family_facts family)
{
    for (socket_address const* each : {&facts.source, &facts.destination})
        append_bytes(out, bytes_view{each->bytes}.first(family.address_size));
    if (family.port_size != 0) {
        append_u16(out, facts.source.port);
        append_u16(out, facts.destination.port);
    }
}

// The checksum is of the whole header with zeros in its own place (section 2.2.3).
void append_checksum(std::string& out, std::size_t start)
{
    append_tlv(out, tlv_type::crc32c, std::string_view{"\0\0\0\0", crc_size});
    put_u16(out, start + head_v2 - 2, out.size() - start - head_v2);
    std::uint32_t const sum = crc32c(as_bytes(std::string_view{out}.substr(start)));
    out.resize(out.size() - crc_size);
    append_u32(out, sum);
}

} // namespace

std::string to_string(socket_address const& address)
{
    std::array<char, INET6_ADDRSTRLEN> room;
    switch (address.family) {
    case address_family::ipv4:
        return fmt::format("{}:{}", text_of(address, room), address.port);
    case address_family::ipv6:
        return fmt::format("[{}]:{}", text_of(address, room), address.port);
    case address_family::unix_socket: {
        std::string_view const path = as_text(address.bytes);
        return fmt::format("unix:{}", path.substr(0, path.find('\0')));
    }
    case address_family::unspecified:
        break;
    }
    return {};
}

error_code append_write_ip(std::string& out, socket_address const& client)
{
    if (client.family != address_family::ipv4 && client.family != address_family::ipv6)
        return make_error_code(boost::system::errc::address_family_not_supported);
    out += low_byte(client.family == address_family::ipv4 ? AF_INET : AF_INET6);
    append_bytes(out, bytes_view{client.bytes}.first(facts_of(client.family).address_size));
    return {};
}

void append_proxy_v1(std::string& out, connection_facts const& facts)
{
    address_family const family = common_family(facts);
    if (family != address_family::ipv4 && family != address_family::ipv6) {
        out += "PROXY UNKNOWN\r\n";
        return;
    }
    std::array<char, INET6_ADDRSTRLEN> source{};
    std::array<char, INET6_ADDRSTRLEN> destination{};
    fmt::format_to(
        std::back_inserter(out), "PROXY {} {} {} {} {}\r\n",
        family == address_family::ipv4 ? "TCP4" : "TCP6", text_of(facts.source, source),
        text_of(facts.destination, destination), facts.source.port, facts.destination.port);
}

error_code append_proxy_v2(
    std::string& out, connection_facts const& facts, header_checksum checksum)
{
    std::size_t const start = out.size();
    address_family const family = common_family(facts);
    family_facts const shape = facts_of(family);

    out += signature_v2;
    out += version_2_proxy;
    constexpr unsigned over_a_stream = 1;
    out += low_byte(shape.code == 0 ? 0U : unsigned{shape.code} << 4 | over_a_stream);
    append_u16(out, 0);
    append_addresses_v2(out, facts, shape);
    append_tlv(out, tlv_type::alpn, facts.alpn);
    append_tlv(out, tlv_type::authority, facts.authority);
    append_tlv(out, tlv_type::client_certificate_pem, facts.client_certificate);
    if (facts.tls)
        append_ssl_tlv(out, *facts.tls);
    std::size_t const inbound = append_inbound(out, facts);
    if (checksum == header_checksum::on)
        append_checksum(out, start);
    put_u16(out, start + head_v2 - 2, out.size() - start - head_v2);

    std::size_t const certificate = facts.client_certificate.size();
    if (out.size() - start - certificate - inbound > limits::proxy_header_max ||
        certificate > limits::proxy_certificate_max) {
        out.resize(start);
        return make_error_code(boost::system::errc::message_size);
    }
    return {};
}

bool is_passed_on(std::uint8_t type, connection_facts const& facts) noexcept
{
    switch (type) {
    case tlv_type::alpn:
    case tlv_type::authority:
    case tlv_type::ssl:
    case tlv_type::crc32c:
    case tlv_type::noop:
        return false;
    case tlv_type::client_certificate_pem:
        return facts.client_certificate.empty();
    default:
        return true;
    }
}

void append_proxy_v2_local(std::string& out)
{
    out += signature_v2;
    out += version_2_local;
    out.append(3, '\0');
}

} // namespace cleat::app
