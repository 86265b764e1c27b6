#include "config/route_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace cleat::app::route_text_test {
namespace {

std::string name(std::string_view text)
{
    parsed<server_name_pattern> const read = parse_server_name(text);
    return read ? to_string(*read) : read.error().text + ". " + read.error().cure;
}

std::string prefix(std::string_view text)
{
    parsed<ip_prefix> const read = parse_ip_prefix(text);
    return read ? to_string(*read) : read.error().text + ". " + read.error().cure;
}

TEST_CASE("a route's name is a name, a wildcard or none")
{
    CHECK(name("WWW.Example.org.") == "www.example.org");
    CHECK(name("*.Example.org") == "*.example.org");
    CHECK(name("_x.localhost") == "_x.localhost");
    CHECK(name("none") == "none");
    CHECK(
        name("*") ==
        "* is no name. Leave sni out: a route without it takes clients with any name.");
    CHECK(name("192.0.2.1").find("is an address") != std::string::npos);
    CHECK(name("::1").find("is an address") != std::string::npos);
    CHECK(name("b\xc3\xbc.example").find("with xn--") != std::string::npos);
    for (std::string_view const bad :
         {"", ".", "a..b", "a b", "*.*.org", "a.*.org", "*a.org", "-.\n", "a.org:443", "*."})
        CHECK(name(bad).find("is no name that clients ask for") != std::string::npos);
    CHECK(name(std::string(64, 'a')).find("is no name") != std::string::npos);
    CHECK(name(std::string(63, 'a')) == std::string(63, 'a'));
}

TEST_CASE("a prefix is an address with a length, or an address")
{
    for (std::string_view const good :
         {"192.0.2.0/24", "10.0.0.0/8", "0.0.0.0/0", "192.0.2.1", "2001:db8::/32", "::/0", "::1"})
        CHECK(prefix(good) == good);
    CHECK(prefix("192.0.2.1/32") == "192.0.2.1");
    CHECK(prefix("::1/128") == "::1");
    CHECK(
        prefix("192.0.2.1/24") ==
        "\"192.0.2.1/24\" has bits behind the length of its prefix. Write 192.0.2.0/24 for the "
        "network, or 192.0.2.1 for the address.");
    CHECK(
        prefix("10.0.0.0/33") ==
        "the length of the prefix \"10.0.0.0/33\" is no number from 0 to 32. Write, for example, "
        "10.0.0.0/32.");
    CHECK(prefix("::/129").find("from 0 to 128") != std::string::npos);
    for (std::string_view const bad : {"", "10", "10.0.0/8", "example.org", "/8", "1.2.3.4.5"})
        CHECK(prefix(bad).find("is no address and no prefix") != std::string::npos);
    for (std::string_view const bad :
         {"10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8 ", "10.0.0.0/-1", "10.0.0.0/08"})
        CHECK(prefix(bad).find("is no number from 0 to 32") != std::string::npos);
}

TEST_CASE("a prefix of IPv4 in the form of IPv6 has no client")
{
    CHECK(
        prefix("::ffff:192.0.2.0/120") ==
        "\"::ffff:192.0.2.0/120\" is an IPv4 address in the form of IPv6. Write it as an IPv4 "
        "address: a client that comes by IPv4 has one.");
}

} // namespace
} // namespace cleat::app::route_text_test
