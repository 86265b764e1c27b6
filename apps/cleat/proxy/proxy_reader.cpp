#include "proxy/proxy_bytes.hpp"
#include "proxy/proxy_protocol.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

using namespace proxy_bytes;

std::size_t read_u16(bytes_view bytes)
{
    return static_cast<std::size_t>(bytes[0] << 8 | bytes[1]);
}

constexpr proxy_reading need_more{};
constexpr proxy_reading malformed(proxy_fault fault, std::uint8_t tlv = 0) noexcept
{
    return {proxy_verdict::malformed, {}, fault, tlv};
}

// Whether `text` is the start of `whole`, or the other way round.
bool may_be(std::string_view text, std::string_view whole)
{
    std::size_t const common = std::min(text.size(), whole.size());
    return text.substr(0, common) == whole.substr(0, common);
}

// Takes a word off the line; there is exactly one blank between two.
std::string_view take_word(std::string_view& line)
{
    std::size_t const end = std::min(line.find(' '), line.size());
    std::string_view const word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

bool read_ip(std::string_view text, socket_address& address)
{
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    if (text.size() >= terminated.size() || text.find('\0') != text.npos)
        return false;
    std::ranges::copy(text, terminated.begin());
    int const family = address.family == address_family::ipv4 ? AF_INET : AF_INET6;
    return inet_pton(family, terminated.data(), address.bytes.data()) == 1;
}

// Decimal, without zeros in front (section 2.1).
bool read_port(std::string_view text, socket_address& address)
{
    if (text.size() > 1 && text.front() == '0')
        return false;
    char const* const last = text.data() + text.size();
    auto const [end, ec] = std::from_chars(text.data(), last, address.port);
    return ec == std::errc{} && end == last;
}

proxy_reading read_v1(std::string_view text)
{
    std::string_view line = text.substr(0, line_v1_max);
    std::size_t const end = line.find('\n');
    if (end == line.npos)
        return text.size() >= line_v1_max ? malformed(proxy_fault::line_too_long)
               : line.substr(0, line.size() - 1).find('\r') == line.npos
                   ? need_more
                   : malformed(proxy_fault::line);
    if (line.find('\r') != end - 1)
        return malformed(proxy_fault::line);
    line = line.substr(start_v1.size(), end - 1 - start_v1.size());

    proxy_reading reading{.verdict = proxy_verdict::complete};
    proxy_header& header = reading.header;
    header.version = 1;
    header.size = end + 1;

    std::string_view const protocol = take_word(line);
    if (protocol == "UNKNOWN")
        return reading; // the rest of the line is ignored (section 2.1)
    if (protocol != "TCP4" && protocol != "TCP6")
        return malformed(proxy_fault::line);
    header.source.family = protocol == "TCP4" ? address_family::ipv4 : address_family::ipv6;
    header.destination.family = header.source.family;

    bool const has_addresses =
        read_ip(take_word(line), header.source) && read_ip(take_word(line), header.destination);
    if (!has_addresses || !read_port(take_word(line), header.source))
        return malformed(proxy_fault::line);
    // The last word ends the line; a blank after it would be one too many.
    if (!read_port(line, header.destination))
        return malformed(proxy_fault::line);
    return reading;
}

// The bytes that follow the last whole TLV.
bytes_view behind_whole_tlvs(bytes_view bytes)
{
    while (next_tlv(bytes)) {
    }
    return bytes;
}

// At most one checksum: with hundreds of them, each of the whole header, a peer could buy much work
// cheaply.
proxy_fault check_checksum(bytes_view whole, bytes_view tlvs)
{
    bytes_view found;
    while (std::optional<tlv> const each = next_tlv(tlvs)) {
        if (each->type != tlv_type::crc32c)
            continue;
        if (each->value.size() != crc_size || !found.empty())
            return proxy_fault::checksum_form;
        found = each->value;
    }
    if (found.empty())
        return proxy_fault::none;
    std::string zeroed{as_text(whole)};
    zeroed.replace(static_cast<std::size_t>(found.data() - whole.data()), crc_size, crc_size, '\0');
    std::size_t const sum = read_u16(found) << 16 | read_u16(found.subspan(2));
    return sum == crc32c(as_bytes(zeroed)) ? proxy_fault::none : proxy_fault::wrong_checksum;
}

std::optional<address_family> family_from(std::uint8_t byte)
{
    unsigned const family = byte >> 4;
    unsigned const protocol = byte & 0xf; // 0 is unspecified, 1 a stream, 2 datagrams
    if (family > 3 || protocol > 2)
        return {};
    if (protocol == 0) // then it is not known either whether ports follow the addresses
        return address_family::unspecified;
    constexpr std::array families{
        address_family::unspecified, address_family::ipv4, address_family::ipv6,
        address_family::unix_socket};
    return families[family];
}

bool has_long_unique_id(bytes_view tlvs)
{
    constexpr std::size_t unique_id_max = 128; // Section 2.2.5.
    while (std::optional<tlv> const each = next_tlv(tlvs))
        if (each->type == tlv_type::unique_id && each->value.size() > unique_id_max)
            return true;
    return false;
}

void read_addresses_v2(bytes_view body, address_family family, proxy_header& header)
{
    family_facts const shape = facts_of(family);
    header.source.family = header.destination.family = family;
    std::ranges::copy(body.first(shape.address_size), header.source.bytes.begin());
    std::ranges::copy(
        body.subspan(shape.address_size, shape.address_size), header.destination.bytes.begin());
    if (shape.port_size != 0) {
        bytes_view const ports = body.subspan(2 * shape.address_size);
        header.source.port = static_cast<std::uint16_t>(read_u16(ports));
        header.destination.port = static_cast<std::uint16_t>(read_u16(ports.subspan(2)));
    }
}

proxy_reading read_v2(bytes_view bytes)
{
    // Each byte is checked as soon as it is there: no wait for more of a header that cannot be one.
    if (bytes.size() <= signature_v2.size())
        return need_more;
    std::uint8_t const version_and_command = bytes[12];
    if (version_and_command != version_2_local && version_and_command != version_2_proxy)
        return malformed(proxy_fault::unknown_version);
    bool const is_local = version_and_command == version_2_local;
    if (bytes.size() < 14)
        return need_more;
    std::optional<address_family> const family = family_from(bytes[13]);
    if (!family && !is_local)
        return malformed(proxy_fault::family);
    if (bytes.size() < head_v2)
        return need_more;
    std::size_t const size = head_v2 + read_u16(bytes.subspan(14));
    if (size > limits::proxy_header_max)
        return malformed(proxy_fault::too_long);
    if (bytes.size() < size)
        return need_more;

    proxy_reading reading{.verdict = proxy_verdict::complete};
    reading.header.version = 2;
    reading.header.size = size;
    reading.header.is_local = is_local;
    if (is_local) // the family is ignored too, and with it where the addresses end
        return reading;

    bytes_view const whole = bytes.first(size);
    bytes_view const body = whole.subspan(head_v2);
    family_facts const shape = facts_of(*family);
    std::size_t const addresses = 2 * (shape.address_size + shape.port_size);
    if (body.size() < addresses)
        return malformed(proxy_fault::no_addresses);
    bytes_view const tlvs = body.subspan(addresses);
    bytes_view const cut = behind_whole_tlvs(tlvs);
    // After an unspecified family there may be addresses of an unknown kind instead of TLVs.
    if (!cut.empty() && *family == address_family::unspecified)
        return reading;
    if (!cut.empty())
        return malformed(proxy_fault::cut_tlv, cut.front());
    proxy_fault const fault = check_checksum(whole, tlvs);
    if (fault != proxy_fault::none)
        return malformed(fault);
    if (has_long_unique_id(tlvs))
        return malformed(proxy_fault::long_unique_id);
    read_addresses_v2(body, *family, reading.header);
    reading.header.tlvs = tlvs;
    return reading;
}

} // namespace

std::optional<tlv> next_tlv(std::span<std::uint8_t const>& rest)
{
    if (rest.size() < tlv_head)
        return {};
    std::size_t const size = read_u16(rest.subspan(1));
    if (rest.size() - tlv_head < size)
        return {};
    tlv const taken{rest[0], rest.subspan(tlv_head, size)};
    rest = rest.subspan(tlv_head + size);
    return taken;
}

std::string_view describe_fault(proxy_fault fault) noexcept
{
    switch (fault) {
    case proxy_fault::none:
        break;
    case proxy_fault::no_header:
        return "the first bytes are no PROXY header";
    case proxy_fault::line_too_long:
        return "the line of version 1 has no end within 107 bytes";
    case proxy_fault::line:
        return "the line of version 1 has a wrong word, address or port";
    case proxy_fault::unknown_version:
        return "the binary header has an unknown version or command";
    case proxy_fault::family:
        return "the header has an unknown address family or protocol";
    case proxy_fault::long_unique_id:
        return "UNIQUE_ID is longer than 128 bytes";
    case proxy_fault::too_long:
        return "the header is longer than 4096 bytes";
    case proxy_fault::no_addresses:
        return "the header is shorter than its addresses";
    case proxy_fault::cut_tlv:
        return "a TLV goes beyond the end of the header";
    case proxy_fault::checksum_form:
        return "CRC32C has not four bytes, or is there twice";
    case proxy_fault::wrong_checksum:
        return "CRC32C is not the checksum of the header";
    }
    return {};
}

proxy_reading read_proxy_header(std::span<std::uint8_t const> bytes)
{
    std::string_view const text = as_text(bytes);
    if (!may_be(text, start_v1) && !may_be(text, signature_v2))
        return malformed(proxy_fault::no_header);
    if (bytes.empty())
        return need_more;
    if (bytes[0] == static_cast<std::uint8_t>(start_v1[0]))
        return text.size() < start_v1.size() ? need_more : read_v1(text);
    return read_v2(bytes);
}

} // namespace cleat::app
