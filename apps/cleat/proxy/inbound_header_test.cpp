#include "proxy/inbound_header.hpp"
#include "proxy/tlv_names.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app::inbound_header_test {
namespace {

using namespace std::string_literals;

std::span<std::uint8_t const> bytes_of(std::string_view text)
{
    return {reinterpret_cast<std::uint8_t const*>(text.data()), text.size()};
}

std::string tlv_of(std::uint8_t type, std::string_view value)
{
    std::string made{static_cast<char>(type)};
    made += static_cast<char>(value.size() >> 8U);
    made += static_cast<char>(value.size() & 0xffU);
    return made += value;
}

// A header of version 2 for TCP over IPv4, or for another family with bytes of its own.
std::string header(std::string_view tlvs, char family = 0x11, std::string addresses = {})
{
    if (family == 0x11)
        addresses = "\xC0\x00\x02\x01\xC6\x33\x64\x02\x04\xD2\x01\xBB"s;
    std::size_t const size = addresses.size() + tlvs.size();
    std::string made = "\r\n\r\n\0\r\nQUIT\n\x21"s + family;
    made += static_cast<char>(size >> 8U);
    made += static_cast<char>(size & 0xffU);
    return made.append(addresses).append(tlvs);
}

inbound_header kept(std::string_view text)
{
    proxy_reading const reading = read_proxy_header(bytes_of(text));
    REQUIRE(reading.verdict != proxy_verdict::need_more);
    return keep(bytes_of(text), reading);
}

std::string outbound(connection_facts facts, std::string_view inbound)
{
    facts.inbound_tlvs = bytes_of(inbound);
    std::string out;
    REQUIRE_FALSE(append_proxy_v2(out, facts));
    return out;
}

std::string names_in(std::string_view sent)
{
    return tlv_names(read_proxy_header(bytes_of(sent)).header.tlvs);
}

} // namespace

TEST_CASE("a header is kept, and the bytes behind it are not")
{
    std::string const whole = header(tlv_of(tlv_type::unique_id, "id-7"));
    inbound_header const found = kept(whole + "\x16\x03\x01");
    CHECK(found.bytes == whole);
    CHECK(to_string(found.source) == "192.0.2.1:1234");
    CHECK(to_string(found.destination) == "198.51.100.2:443");
    CHECK(found.has_addresses());
    CHECK(unique_id_of(found) == "id-7");
    CHECK(ip_bytes(found.source).size() == 4);
}

TEST_CASE("a version 1 header, a local one and one without a family have what they have")
{
    inbound_header const line = kept("PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n");
    CHECK(ip_bytes(line.source).size() == 16);
    CHECK(line.tlvs().empty());
    CHECK_FALSE(kept("PROXY UNKNOWN\r\n").has_addresses());
    inbound_header const local = kept("\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00"s);
    CHECK(local.is_local);
    CHECK_FALSE(local.has_addresses());
    inbound_header const none = kept(header(tlv_of(tlv_type::unique_id, "x"), 0x00));
    CHECK_FALSE(none.has_addresses());
    CHECK(unique_id_of(none) == "x");
}

TEST_CASE("a client at a UNIX socket has a path and no IP address")
{
    std::string path = "/run/client";
    path.resize(108);
    inbound_header const found = kept(header("", 0x31, path + path));
    CHECK(to_string(found.source) == "unix:/run/client");
    CHECK(ip_bytes(found.source).empty());
    CHECK(found.has_addresses());
}

TEST_CASE("a header is found whole, wherever its bytes are cut")
{
    std::string const whole = header(tlv_of(tlv_type::unique_id, "id") + tlv_of(0xea, "x"));
    for (std::size_t i = 0; i < whole.size(); ++i)
        CHECK(read_proxy_header(bytes_of(whole).first(i)).verdict == proxy_verdict::need_more);
    CHECK(kept(whole).bytes == whole);
}

TEST_CASE("what is wrong with a header is said")
{
    auto const fault = [](std::string const& text) { return kept(text).fault; };
    CHECK(fault("GET / HTTP/1.1\r\n") == "the first bytes are no PROXY header");
    CHECK(
        fault("PROXY TCP4 " + std::string(120, '1')).find("no end within 107") !=
        std::string::npos);
    CHECK(
        fault("PROXY TCP4 192.0.2.300 192.0.2.1 1 2\r\n").find("wrong word") != std::string::npos);
    CHECK(fault(header("").replace(12, 1, "\x31")).find("version or command") != std::string::npos);
    CHECK(fault(header("", 0x41)).find("family") != std::string::npos);
    CHECK(fault(header("", 0x21, "short")) == "the header is shorter than its addresses");
    CHECK(
        fault(header(std::string(limits::proxy_header_max, 'x'))) ==
        "the header is longer than 4096 bytes");
    CHECK(fault(header(tlv_of(tlv_type::unique_id, std::string(128, 'u')))).empty());
    CHECK(
        fault(header(tlv_of(tlv_type::unique_id, std::string(129, 'u')))) ==
        "UNIQUE_ID is longer than 128 bytes");
    std::string const cut = tlv_of(tlv_type::unique_id, "abcd").substr(0, 5);
    CHECK(fault(header(cut)) == "a TLV goes beyond the end of the header: UNIQUE_ID");
    CHECK(
        fault(header(tlv_of(tlv_type::crc32c, "abcd"))) ==
        "CRC32C is not the checksum of the header");
    CHECK(
        fault(header(tlv_of(tlv_type::crc32c, "abc"))) ==
        "CRC32C has not four bytes, or is there twice");
}

TEST_CASE("every registered TLV has its name, and those of cloud providers")
{
    std::string const inside = "\x01\0\0\0\0"s + tlv_of(tlv_type::ssl_version, "TLSv1.3") +
                               tlv_of(tlv_type::ssl_client_cert, "x") + tlv_of(0x2f, "x");
    std::string const all = tlv_of(tlv_type::alpn, "h2") + tlv_of(tlv_type::authority, "a") +
                            tlv_of(tlv_type::noop, "") + tlv_of(tlv_type::unique_id, "u") +
                            tlv_of(tlv_type::ssl, inside) + tlv_of(tlv_type::netns, "n") +
                            tlv_of(0xe0, "g") + tlv_of(0xea, "a") + tlv_of(0xee, "z") +
                            tlv_of(0xf1, "?");
    CHECK(
        tlv_names(bytes_of(all)) == "ALPN,AUTHORITY,NOOP,UNIQUE_ID,SSL(SSL_VERSION,SSL_CLIENT_CERT,"
                                    "0x2F),NETNS,GCP,AWS,AZURE,0xF1");
    CHECK(tlv_name(tlv_type::crc32c) == "CRC32C");
    CHECK(tlv_names({}).empty());
}

TEST_CASE("inbound TLVs are passed on, but for those that are about the balancer's TLS or header")
{
    std::string const inbound = tlv_of(tlv_type::alpn, "h3") + tlv_of(tlv_type::unique_id, "u") +
                                tlv_of(tlv_type::authority, "other") + tlv_of(0xea, "vpce") +
                                tlv_of(tlv_type::ssl, "12345") + tlv_of(tlv_type::crc32c, "1234") +
                                tlv_of(tlv_type::noop, "") + tlv_of(tlv_type::netns, "");
    connection_facts facts;
    facts.alpn = "h2";
    CHECK(names_in(outbound(facts, inbound)) == "ALPN,UNIQUE_ID,AWS,NETNS");
    CHECK(outbound(facts, inbound).find("h2") != std::string::npos);
    CHECK(outbound(facts, inbound).find("h3") == std::string::npos);
}

TEST_CASE("hitch's certificate takes the place of an inbound TLV of its number")
{
    connection_facts facts;
    std::string const inbound = tlv_of(tlv_type::client_certificate_pem, "google");
    CHECK(outbound(facts, inbound).find("google") != std::string::npos);
    facts.client_certificate = "PEM";
    CHECK(outbound(facts, inbound).find("google") == std::string::npos);
}

TEST_CASE("inbound TLVs have room beside cleat's own, and the checksum is of both")
{
    std::string const long_one = tlv_of(0xe7, std::string(4000, 'x'));
    std::string const name(3000, 'n');
    connection_facts facts;
    facts.authority = name;
    CHECK(outbound(facts, long_one).size() > 7000);
    facts.authority = {};
    std::string const short_one = tlv_of(0xe7, "x");
    facts.inbound_tlvs = bytes_of(short_one);
    std::string out;
    REQUIRE_FALSE(append_proxy_v2(out, facts, header_checksum::on));
    CHECK(names_in(out) == "0xE7,CRC32C");
    out.back() ^= 1;
    CHECK(read_proxy_header(bytes_of(out)).fault == proxy_fault::wrong_checksum);
}

} // namespace cleat::app::inbound_header_test
