#include "proxy/proxy_protocol.hpp"

#include <cleat/core/limits.hpp>

#include <boost/system/errc.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace cleat::app::proxy_protocol_test {
namespace {

using namespace std::string_literals;

std::span<std::uint8_t const> bytes_of(std::string_view text)
{
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

std::string text_of(std::span<std::uint8_t const> bytes)
{
    return {bytes.begin(), bytes.end()};
}

socket_address ipv4(std::uint8_t last, std::uint16_t port)
{
    socket_address made{address_family::ipv4, port, {}};
    made.bytes = {192, 0, 2, last};
    return made;
}

socket_address ipv6(std::uint8_t last, std::uint16_t port)
{
    socket_address made{address_family::ipv6, port, {}};
    made.bytes = {0x20, 0x01, 0x0d, 0xb8};
    made.bytes[15] = last;
    return made;
}

socket_address unix_socket(std::string_view path)
{
    socket_address made{address_family::unix_socket, 0, {}};
    std::ranges::copy(path, made.bytes.begin());
    return made;
}

connection_facts between(socket_address const& source, socket_address const& destination)
{
    connection_facts facts;
    facts.source = source;
    facts.destination = destination;
    return facts;
}

connection_facts everything()
{
    connection_facts facts = between(ipv4(1, 56324), ipv4(11, 443));
    facts.alpn = "h2";
    facts.authority = "www.example.com";
    facts.tls = tls_facts{
        .version = "TLSv1.3",
        .cipher = "TLS_AES_128_GCM_SHA256",
        .group = "X25519MLKEM768",
        .signature_scheme = "ecdsa_secp256r1_sha256",
        .certificate_signature = "ecdsa-with-SHA256",
        .certificate_key = "EC256",
        .client_common_name = "client-1",
        .client = client_certificate::in_this_connection,
        .is_client_verified = true,
    };
    return facts;
}

std::string v1(connection_facts const& facts)
{
    std::string out;
    append_proxy_v1(out, facts);
    return out;
}

std::string v2(connection_facts const& facts, header_checksum checksum = header_checksum::off)
{
    std::string out;
    REQUIRE_FALSE(append_proxy_v2(out, facts, checksum));
    return out;
}

std::string v2_raw(char version_and_command, char family, std::string const& body)
{
    std::string out = "\r\n\r\n\0\r\nQUIT\n"s + version_and_command + family;
    out += static_cast<char>(body.size() >> 8);
    out += static_cast<char>(body.size() & 0xff);
    return out + body;
}

proxy_reading read(std::string_view bytes)
{
    return read_proxy_header(bytes_of(bytes));
}

// Reads the header cut at every position: never complete before its end, and from there on always
// the same.
proxy_header read_at_every_cut(std::string const& header)
{
    std::string const then = header + "\x16\x03\x01 and the ClientHello";
    for (std::size_t size = 0; size < header.size(); ++size) {
        INFO("cut at " << size);
        CHECK(read(std::string_view{then}.substr(0, size)).verdict == proxy_verdict::need_more);
    }
    for (std::size_t size = header.size(); size <= then.size(); ++size) {
        proxy_reading const reading = read(std::string_view{then}.substr(0, size));
        CHECK(reading.verdict == proxy_verdict::complete);
        CHECK(reading.header.size == header.size());
    }
    return read(header).header;
}

std::map<int, std::string> tlvs_of(std::span<std::uint8_t const> rest)
{
    std::map<int, std::string> all;
    while (std::optional<tlv> const each = next_tlv(rest))
        all[each->type] = text_of(each->value);
    CHECK(rest.empty());
    return all;
}

bool is_malformed(std::string_view bytes)
{
    return read(bytes).verdict == proxy_verdict::malformed;
}

TEST_CASE("write-ip is the family as Linux numbers it, and the address in network order")
{
    std::string out;
    CHECK_FALSE(append_write_ip(out, ipv4(7, 1)));
    CHECK(out == "\x02\xc0\x00\x02\x07"s);
    out.clear();
    CHECK_FALSE(append_write_ip(out, ipv6(7, 1)));
    CHECK(out == "\x0a\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x07");
    out = "before";
    CHECK(
        append_write_ip(out, unix_socket("/a")) ==
        boost::system::errc::address_family_not_supported);
    CHECK(append_write_ip(out, {}) == boost::system::errc::address_family_not_supported);
    CHECK(out == "before");
}

TEST_CASE("version 1 is one line of text")
{
    CHECK(
        v1(between(ipv4(1, 56324), ipv4(11, 443))) ==
        "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443\r\n");
    CHECK(
        v1(between(ipv6(1, 65535), ipv6(11, 0))) ==
        "PROXY TCP6 2001:db8::1 2001:db8::b 65535 0\r\n");
}

TEST_CASE("version 1 calls UNKNOWN what it has no words for")
{
    CHECK(v1(between({}, {})) == "PROXY UNKNOWN\r\n");
    CHECK(v1(between(ipv4(1, 1), ipv6(1, 1))) == "PROXY UNKNOWN\r\n");
    CHECK(v1(between(unix_socket("/a"), unix_socket("/b"))) == "PROXY UNKNOWN\r\n");
}

TEST_CASE("version 2 of a plain TCP connection is the 28 bytes of the specification")
{
    CHECK(
        v2(between(ipv4(1, 0x1234), ipv4(11, 443))) ==
        "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc0\0\x02\x0b\x12\x34\x01\xbb"s);
    CHECK(v2(between(ipv6(1, 1), ipv6(2, 2))).size() == 16 + 36);
    CHECK(v2(between(unix_socket("/a"), unix_socket("/b"))).size() == 16 + 216);
    CHECK(v2(between(ipv4(1, 1), ipv6(2, 2))) == "\r\n\r\n\0\r\nQUIT\n\x21\0\0\0"s);
}

TEST_CASE("version 2 appends, and leaves alone what was there")
{
    std::string out = "before";
    REQUIRE_FALSE(append_proxy_v2(out, everything(), header_checksum::on));
    CHECK(out == "before" + v2(everything(), header_checksum::on));
}

TEST_CASE("every fact has its TLV, those of TLS inside the one of type SSL")
{
    std::string const header = v2(everything());
    proxy_reading const reading = read(header);
    REQUIRE(reading.verdict == proxy_verdict::complete);
    std::map<int, std::string> const outer = tlvs_of(reading.header.tlvs);
    CHECK(outer.size() == 3);
    CHECK(outer.at(0x01) == "h2");
    CHECK(outer.at(0x02) == "www.example.com");

    std::string const ssl = outer.at(0x20);
    CHECK(
        ssl.substr(0, ssl_value_head) ==
        "\x07\0\0\0\0"s); // TLS, certificate now and in the session
    std::map<int, std::string> const inner = tlvs_of(bytes_of(ssl).subspan(ssl_value_head));
    CHECK(inner.size() == 7);
    CHECK(inner.at(0x21) == "TLSv1.3");
    CHECK(inner.at(0x22) == "client-1");
    CHECK(inner.at(0x23) == "TLS_AES_128_GCM_SHA256");
    CHECK(inner.at(0x24) == "ecdsa-with-SHA256");
    CHECK(inner.at(0x25) == "EC256");
    CHECK(inner.at(0x26) == "X25519MLKEM768");
    CHECK(inner.at(0x27) == "ecdsa_secp256r1_sha256");
}

TEST_CASE("verify is zero only when a certificate was shown and verifies")
{
    auto const head = [](client_certificate client, bool is_verified) {
        connection_facts facts = between(ipv4(1, 1), ipv4(2, 2));
        facts.tls = tls_facts{};
        facts.tls->client = client;
        facts.tls->is_client_verified = is_verified;
        return v2(facts).substr(16 + 12 + 3);
    };
    CHECK(head(client_certificate::none, false) == "\x01\0\0\0\x01"s);
    CHECK(head(client_certificate::in_this_connection, false) == "\x07\0\0\0\x01"s);
    CHECK(head(client_certificate::in_this_connection, true) == "\x07\0\0\0\0"s);
    CHECK(head(client_certificate::in_the_session, true) == "\x05\0\0\0\0"s);
}

TEST_CASE("what is empty is left out")
{
    connection_facts facts = everything();
    facts.alpn = {};
    facts.tls = {};
    std::string const header = v2(facts);
    CHECK(tlvs_of(read(header).header.tlvs) == std::map<int, std::string>{{2, "www.example.com"}});
}

TEST_CASE("a header longer than the limit is not sent at all")
{
    connection_facts facts = everything();
    for (std::size_t const size :
         {limits::proxy_header_max, std::size_t{65'535}, std::size_t{70'000}}) {
        std::string const name(size, 'x');
        facts.tls->client_common_name = name;
        std::string out = "before";
        CHECK(append_proxy_v2(out, facts) == boost::system::errc::message_size);
        CHECK(out == "before");
    }
    facts.tls = {};
    facts.alpn = {};
    std::string const longest(limits::proxy_header_max - 16 - 12 - 3, 'x');
    facts.authority = longest;
    CHECK(v2(facts).size() == limits::proxy_header_max);
    CHECK(read(v2(facts)).verdict == proxy_verdict::complete);
}

TEST_CASE("a client's certificate stands before the facts of TLS, and has a limit of its own")
{
    connection_facts facts = everything();
    std::string const without = v2(facts);
    std::string const longest(limits::proxy_certificate_max, 'x');
    facts.client_certificate = longest;
    std::string const header = v2(facts);
    std::size_t const at = header.find(std::string{"\xe0\x80\0", 3} + longest);
    REQUIRE(at != header.npos);
    CHECK(header[at + 3 + longest.size()] == 0x20);
    CHECK(header.size() == without.size() + 3 + longest.size());

    std::string const longer = longest + "x";
    facts.client_certificate = longer;
    std::string out;
    CHECK(append_proxy_v2(out, facts) == boost::system::errc::message_size);
    CHECK(out.empty());
}

TEST_CASE("CRC32c is that of RFC 4960")
{
    CHECK(crc32c({}) == 0);
    CHECK(crc32c(bytes_of("123456789")) == 0xe3069283);
    CHECK(crc32c(bytes_of(std::string(32, '\0'))) == 0x8a9136aa); // RFC 3720, B.4
    CHECK(crc32c(bytes_of(std::string(32, '\xff'))) == 0x62a8ab43);
}

TEST_CASE("a checksum guards every byte of its header")
{
    std::string const header = v2(everything(), header_checksum::on);
    CHECK(tlvs_of(read(header).header.tlvs).at(0x03).size() == 4);
    read_at_every_cut(header);
    for (std::size_t position = 0; position < header.size(); ++position) {
        if (position == 14 || position == 15)
            continue; // the length: a longer one is waited for
        if (position == header.size() - 7)
            continue; // the type of the checksum itself: then there is none to compare
        std::string changed = header;
        changed[position] = static_cast<char>(changed[position] ^ 0x40);
        INFO("byte " << position);
        CHECK(is_malformed(changed));
    }
}

TEST_CASE("a checksum of a wrong size, or a second one, is no header")
{
    std::string const addresses(12, '\0');
    CHECK(is_malformed(v2_raw(0x21, 0x11, addresses + "\x03\0\x03"s + "abc")));
    CHECK(is_malformed(v2_raw(0x21, 0x11, addresses + "\x03\0\0"s)));
    std::string once;
    REQUIRE_FALSE(append_proxy_v2(once, between(ipv4(1, 1), ipv4(2, 2)), header_checksum::on));
    std::string const crc = once.substr(once.size() - 7);
    CHECK(is_malformed(v2_raw(0x21, 0x11, once.substr(16) + crc)));
}

TEST_CASE("what is written is read back, cut at every byte")
{
    std::vector<connection_facts> const all{
        between(ipv4(1, 56324), ipv4(11, 443)), between(ipv6(1, 1), ipv6(2, 65535)),
        between(unix_socket("/run/a"), unix_socket(std::string(108, 'b'))), everything()};
    for (connection_facts const& facts : all) {
        proxy_header const header = read_at_every_cut(v2(facts));
        CHECK(header.version == 2);
        CHECK_FALSE(header.is_local);
        CHECK(header.source == facts.source);
        CHECK(header.destination == facts.destination);
        if (facts.source.family == address_family::unix_socket)
            continue;
        proxy_header const line = read_at_every_cut(v1(facts));
        CHECK(line.version == 1);
        CHECK(line.source == facts.source);
        CHECK(line.destination == facts.destination);
    }
}

TEST_CASE("a connection of the proxy's own has no addresses")
{
    std::string out;
    append_proxy_v2_local(out);
    CHECK(out == "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"s);
    CHECK(read_at_every_cut(out).is_local);

    // Its content is skipped, whatever its family (section 2.2).
    proxy_header const padded = read_at_every_cut(v2_raw(0x20, 0x7f, "rubbish"));
    CHECK(padded.is_local);
    CHECK(padded.source == socket_address{});
    CHECK(padded.tlvs.empty());
}

TEST_CASE("a header without a family has no addresses, but may have TLVs")
{
    connection_facts facts = everything();
    facts.source = {};
    proxy_header const header = read_at_every_cut(v2(facts));
    CHECK(header.source.family == address_family::unspecified);
    CHECK(read(v2_raw(0x21, 0x00, "\x02\0\x01z"s)).header.tlvs.size() == 4);
    // Bytes that are no TLVs may be addresses of a kind that is not known: not our business.
    CHECK(read_at_every_cut(v2_raw(0x21, 0x00, "12345")).tlvs.empty());
    CHECK(read_at_every_cut(v2_raw(0x21, 0x10, std::string(8, 'a'))).source == socket_address{});
}

TEST_CASE("version 2 is refused as soon as a byte is wrong")
{
    std::string const start = "\r\n\r\n\0\r\nQUIT\n"s;
    for (int byte = 0; byte < 256; ++byte) {
        INFO("byte " << byte);
        std::string const command = start + static_cast<char>(byte);
        CHECK(is_malformed(command) == (byte != 0x20 && byte != 0x21));
        std::string const family = start + '\x21' + static_cast<char>(byte);
        CHECK(is_malformed(family) == (byte >> 4 > 3 || (byte & 0xf) > 2));
    }
    for (std::size_t position = 0; position < start.size(); ++position) {
        std::string wrong = start.substr(0, position + 1);
        wrong.back() = static_cast<char>(wrong.back() ^ 1);
        CHECK(is_malformed(wrong));
    }
}

TEST_CASE("a length is not believed beyond the limit, nor below the addresses")
{
    std::string const start = "\r\n\r\n\0\r\nQUIT\n\x21\x11"s;
    CHECK(is_malformed(start + "\xff\xff"));
    CHECK(is_malformed(start + "\x0f\xf1"));                             // 4097 in all
    CHECK(read(start + "\x0f\xf0").verdict == proxy_verdict::need_more); // 4096
    for (std::size_t size = 0; size < 12; ++size)
        CHECK(is_malformed(v2_raw(0x21, 0x11, std::string(size, 'a'))));
    CHECK(is_malformed(v2_raw(0x21, 0x21, std::string(35, 'a'))));
    CHECK(is_malformed(v2_raw(0x21, 0x31, std::string(215, 'a'))));
}

TEST_CASE("TLVs that do not fill their room exactly are no TLVs")
{
    std::string const addresses(12, '\0');
    std::string const value = "\x02\0\x05hello"s;
    CHECK(read(v2_raw(0x21, 0x11, addresses + value)).verdict == proxy_verdict::complete);
    for (std::size_t cut = 1; cut < value.size(); ++cut)
        CHECK(is_malformed(v2_raw(0x21, 0x11, addresses + value.substr(0, cut))));
    CHECK(is_malformed(v2_raw(0x21, 0x11, addresses + value + "\x04")));
    CHECK(is_malformed(v2_raw(0x21, 0x11, addresses + "\x02\xff\xff"s + "x")));
    CHECK(read(v2_raw(0x21, 0x11, addresses + "\x04\0\0"s)).verdict == proxy_verdict::complete);
}

TEST_CASE("version 1 is read to the letter")
{
    CHECK(
        read_at_every_cut("PROXY TCP6 ::ffff:192.0.2.1 2001:DB8::1 1 2\r\n").source.family ==
        address_family::ipv6);
    for (std::string const& line : {
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443\n"s,     // LF alone
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443\r\r\n"s, // CR too many
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443\rx"s,    // CR alone
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443 \r\n"s,  // a blank too many
             "PROXY TCP4  192.0.2.1 192.0.2.11 56324 443\r\n"s,
             "PROXY  TCP4 192.0.2.1 192.0.2.11 56324 443\r\n"s,
             "PROXY\tTCP4 192.0.2.1 192.0.2.11 56324 443\r\n"s,
             "PROXY TCP4 192.0.2.01 192.0.2.11 56324 443\r\n"s, // octal?
             "PROXY TCP4 192.0.2.1 192.0.2.11 056324 443\r\n"s,
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 65536\r\n"s,
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 -1\r\n"s,
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324\r\n"s,
             "PROXY TCP4 192.0.2.1 192.0.2.11 56324 443 1\r\n"s,
             "PROXY TCP4 192.0.2 192.0.2.11 56324 443\r\n"s,
             "PROXY TCP4 192.0.2.1\0 192.0.2.11 56324 443\r\n"s, // what C would not see
             "PROXY TCP4 ::1 ::1 56324 443\r\n"s,                // another family
             "PROXY TCP6 192.0.2.1 192.0.2.11 56324 443\r\n"s,
             "PROXY TCP5 192.0.2.1 192.0.2.11 56324 443\r\n"s,
             "PROXY UNKNOWNX\r\n"s,
             "PROXY \r\n"s,
         }) {
        INFO(line);
        CHECK(is_malformed(line));
    }
}

TEST_CASE("the line of an unknown protocol in version 1 is skipped")
{
    proxy_header const header = read_at_every_cut("PROXY UNKNOWN\r\n");
    CHECK(header.source.family == address_family::unspecified);
    read_at_every_cut("PROXY UNKNOWN anything at all\r\n");

    // 107 bytes are the most that a line can have.
    std::string const longest = "PROXY UNKNOWN " + std::string(107 - 16, 'f') + "\r\n";
    REQUIRE(longest.size() == 107);
    read_at_every_cut(longest);
    std::string const longer = "PROXY UNKNOWN " + std::string(107 - 15, 'f') + "\r\n";
    CHECK(is_malformed(longer));
    CHECK(is_malformed(longer.substr(0, 107)));
    CHECK(read(longer.substr(0, 106)).verdict == proxy_verdict::need_more);
}

TEST_CASE("a client that begins with TLS or HTTP is refused at its first byte")
{
    CHECK(is_malformed("\x16"));
    CHECK(is_malformed("G"));
    CHECK(is_malformed("PUT"));
    CHECK(is_malformed("PROXZ"));
    CHECK(is_malformed("PROXY\r"));
    CHECK(read("").verdict == proxy_verdict::need_more);
    CHECK(read("P").verdict == proxy_verdict::need_more);
}

} // namespace
} // namespace cleat::app::proxy_protocol_test
