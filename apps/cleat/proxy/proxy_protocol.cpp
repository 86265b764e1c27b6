#include "proxy/proxy_protocol.hpp"

#include <cleat/core/limits.hpp>

#include <boost/system/errc.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include <arpa/inet.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

using bytes_view = std::span<std::uint8_t const>;

constexpr std::string_view signature_v2{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::string_view start_v1 = "PROXY ";
constexpr std::size_t line_v1_max = 107; // section 2.1: "worst case"
constexpr std::size_t head_v2 = 16;      // signature, version and command, family, length
constexpr std::size_t tlv_head = 3;      // type, length
constexpr std::size_t crc_size = 4;

constexpr char version_2_local = 0x20;
constexpr char version_2_proxy = 0x21;

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

std::size_t read_u16(bytes_view bytes)
{
    return static_cast<std::size_t>(bytes[0] << 8 | bytes[1]);
}

void append_bytes(std::string& out, bytes_view bytes)
{
    out.append(bytes.begin(), bytes.end());
}

bytes_view as_bytes(std::string_view text)
{
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

std::string_view as_text(bytes_view bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

// The text of an IP address. inet_ntop cannot fail: the family is known and the room is the
// largest.
std::string_view text_of(socket_address const& address, std::array<char, INET6_ADDRSTRLEN>& room)
{
    int const family = address.family == address_family::ipv4 ? AF_INET : AF_INET6;
    return inet_ntop(family, address.bytes.data(), room.data(), socklen_t{INET6_ADDRSTRLEN});
}

// ---- Writing.

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

// ---- Reading.

constexpr proxy_reading need_more{proxy_verdict::need_more, {}};
constexpr proxy_reading malformed{proxy_verdict::malformed, {}};

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
        return text.size() < line_v1_max && line.substr(0, line.size() - 1).find('\r') == line.npos
                   ? need_more
                   : malformed;
    if (line.find('\r') != end - 1)
        return malformed;
    line = line.substr(start_v1.size(), end - 1 - start_v1.size());

    proxy_reading reading{proxy_verdict::complete, {}};
    proxy_header& header = reading.header;
    header.version = 1;
    header.size = end + 1;

    std::string_view const protocol = take_word(line);
    if (protocol == "UNKNOWN")
        return reading; // the rest of the line is ignored (section 2.1)
    if (protocol != "TCP4" && protocol != "TCP6")
        return malformed;
    header.source.family = protocol == "TCP4" ? address_family::ipv4 : address_family::ipv6;
    header.destination.family = header.source.family;

    bool const has_addresses =
        read_ip(take_word(line), header.source) && read_ip(take_word(line), header.destination);
    if (!has_addresses || !read_port(take_word(line), header.source))
        return malformed;
    // The last word ends the line; a blank after it would be one too many.
    if (!read_port(line, header.destination))
        return malformed;
    return reading;
}

bool are_whole_tlvs(bytes_view bytes)
{
    while (next_tlv(bytes)) {
    }
    return bytes.empty();
}

// At most one checksum: with hundreds of them, each of the whole header, a peer could buy much work
// cheaply.
bool is_checksum_right(bytes_view whole, bytes_view tlvs)
{
    bytes_view found;
    while (std::optional<tlv> const each = next_tlv(tlvs)) {
        if (each->type != tlv_type::crc32c)
            continue;
        if (each->value.size() != crc_size || !found.empty())
            return false;
        found = each->value;
    }
    if (found.empty())
        return true;
    std::string zeroed{as_text(whole)};
    zeroed.replace(static_cast<std::size_t>(found.data() - whole.data()), crc_size, crc_size, '\0');
    std::size_t const sum = read_u16(found) << 16 | read_u16(found.subspan(2));
    return sum == crc32c(as_bytes(zeroed));
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
        return malformed;
    bool const is_local = version_and_command == version_2_local;
    if (bytes.size() < 14)
        return need_more;
    std::optional<address_family> const family = family_from(bytes[13]);
    if (!family && !is_local)
        return malformed;
    if (bytes.size() < head_v2)
        return need_more;
    std::size_t const size = head_v2 + read_u16(bytes.subspan(14));
    if (size > limits::proxy_header_max)
        return malformed;
    if (bytes.size() < size)
        return need_more;

    proxy_reading reading{proxy_verdict::complete, {}};
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
        return malformed;
    bytes_view const tlvs = body.subspan(addresses);
    bool const is_whole = are_whole_tlvs(tlvs);
    // After an unspecified family there may be addresses of an unknown kind instead of TLVs.
    if (!is_whole && *family == address_family::unspecified)
        return reading;
    if (!is_whole || !is_checksum_right(whole, tlvs))
        return malformed;
    read_addresses_v2(body, *family, reading.header);
    reading.header.tlvs = tlvs;
    return reading;
}

constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
    constexpr std::uint32_t polynomial = 0x82f63b78; // Castagnoli's, its bits in reverse
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t rest = i;
        for (int bit = 0; bit < 8; ++bit)
            rest = rest & 1 ? rest >> 1 ^ polynomial : rest >> 1;
        table[i] = rest;
    }
    return table;
}();

} // namespace

std::uint32_t crc32c(std::span<std::uint8_t const> bytes) noexcept
{
    std::uint32_t sum = 0xffff'ffff;
    for (std::uint8_t const byte : bytes)
        sum = sum >> 8 ^ crc32c_table[(sum ^ byte) & 0xff];
    return ~sum;
}

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
    if (checksum == header_checksum::on)
        append_checksum(out, start);
    put_u16(out, start + head_v2 - 2, out.size() - start - head_v2);

    std::size_t const certificate = facts.client_certificate.size();
    if (out.size() - start - certificate > limits::proxy_header_max ||
        certificate > limits::proxy_certificate_max) {
        out.resize(start);
        return make_error_code(boost::system::errc::message_size);
    }
    return {};
}

void append_proxy_v2_local(std::string& out)
{
    out += signature_v2;
    out += version_2_local;
    out.append(3, '\0');
}

proxy_reading read_proxy_header(std::span<std::uint8_t const> bytes)
{
    std::string_view const text = as_text(bytes);
    if (!may_be(text, start_v1) && !may_be(text, signature_v2))
        return malformed;
    if (bytes.empty())
        return need_more;
    if (bytes[0] == static_cast<std::uint8_t>(start_v1[0]))
        return text.size() < start_v1.size() ? need_more : read_v1(text);
    return read_v2(bytes);
}

} // namespace cleat::app
