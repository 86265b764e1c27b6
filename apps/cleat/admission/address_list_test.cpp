#include "admission/address_list.hpp"
#include "admission/admission.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace cleat::app::address_list_test {
namespace {

std::string mistake(std::string_view text)
{
    prefixes networks;
    std::optional<list_fault> const found = add_prefix(networks, text);
    CHECK((found.has_value() == (networks.size() == 0)));
    return found ? found->text + ". " + found->cure : "";
}

address_list list(std::initializer_list<std::string_view> texts)
{
    prefixes networks;
    for (std::string_view const each : texts)
        REQUIRE_FALSE(add_prefix(networks, each).has_value());
    return address_list{std::move(networks)};
}

constexpr std::array<std::uint8_t, 4> ipv4{192, 0, 2, 7};
constexpr std::array<std::uint8_t, 16> ipv6{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0,
                                            0,    0,    0,    0,    0, 0, 0, 7};

} // namespace

TEST_CASE("prefixes and addresses of both families are read")
{
    for (std::string_view const each :
         {"192.0.2.7", "192.0.2.0/24", "0.0.0.0/0", "192.0.2.7/32", "2001:db8::7", "::/0",
          "2001:db8::/32", "2001:DB8::7/128"})
        CHECK_MESSAGE(mistake(each).empty(), each);
    CHECK(list({"192.0.2.0/24"}).contains(ipv4));
    CHECK_FALSE(list({"192.0.3.0/24", "::/0"}).contains(ipv4));
    CHECK(list({"2001:db8::/32"}).contains(ipv6));
    CHECK_FALSE(list({"2001:db9::/32", "0.0.0.0/0"}).contains(ipv6));
}

TEST_CASE("an IPv4 address in the form of IPv6 is the IPv4 address")
{
    std::array<std::uint8_t, 16> const written{0, 0, 0,    0,    0,   0, 0, 0,
                                               0, 0, 0xff, 0xff, 192, 0, 2, 7};
    CHECK(list({"192.0.2.0/24"}).contains(written));
    CHECK_FALSE(list({"::/0"}).contains(written));
}

TEST_CASE("bytes that are no IP address are in no list")
{
    CHECK_FALSE(list({"0.0.0.0/0", "::/0"}).contains({}));
}

TEST_CASE("a mistake is named, with its cure")
{
    CHECK(
        mistake("192.0.2.1/24") ==
        "\"192.0.2.1/24\" has bits behind the length of its prefix. Write 192.0.2.0/24 for the "
        "network, or 192.0.2.1 for the address.");
    CHECK(
        mistake("2001:db8::1/64").find("Write 2001:db8::/64 for the network") != std::string::npos);
    for (std::string_view const each :
         {"192.0.2.0/33", "192.0.2.0/", "192.0.2.0/024", "192.0.2.0/-1", "192.0.2.0/8x", "::/129",
          "::/300"})
        CHECK_MESSAGE(mistake(each).find("the length of the prefix") == 0, each);
    for (std::string_view const each :
         {"192.0.2", "192.0.2.256", "192.0.02.1", "localhost", "2001:db8:::1", "x/24", "/24",
          "[2001:db8::1]", "192.0.2.1:443", "fe80::1%eth0"})
        CHECK_MESSAGE(mistake(each).find("is no address and no prefix") != std::string::npos, each);
    CHECK(mistake("::ffff:192.0.2.0/120").find("Write it as an IPv4 address") != std::string::npos);
}

TEST_CASE("a file has a prefix on each line, comments and blank lines")
{
    prefixes networks;
    line_faults const found = add_lines(
        networks,
        "# office\n192.0.2.0/24\r\n\n  2001:db8::/32  # both\n198.51.100.1 ; DROP's comments\n"
        "203.0.113.0/24");
    CHECK(found.count == 0);
    CHECK(networks.ipv4.size() == 3);
    CHECK(networks.ipv6.size() == 1);
}

TEST_CASE("a file's mistakes are named by their lines, and there are not too many")
{
    prefixes networks;
    std::string text = "192.0.2.0/24\n";
    for (std::size_t i = 0; i < limits::address_list_faults_max + 3; ++i)
        text += "wrong\n";
    line_faults const found = add_lines(networks, text);
    CHECK(found.count == limits::address_list_faults_max + 3);
    REQUIRE(found.first.size() == limits::address_list_faults_max);
    CHECK(found.first[0].number == 2);
    CHECK(found.first[1].number == 3);
    CHECK(networks.size() == 1);
}

TEST_CASE("a denied client is not let in, even if it is allowed")
{
    auto const shared = [](std::initializer_list<std::string_view> texts) {
        return std::make_shared<address_list const>(list(texts));
    };
    admission rules;
    CHECK(rules.is_empty());
    CHECK_FALSE(rules.check_client(ipv4));
    rules.denied = shared({"192.0.2.0/28"});
    CHECK(rules.check_client(ipv4) == error::address_denied);
    CHECK_FALSE(rules.check_client(ipv6));
    rules.allowed = shared({"192.0.2.0/24"});
    CHECK(rules.check_client(ipv4) == error::address_denied);
    CHECK(rules.check_client(ipv6) == error::address_not_allowed);
    CHECK(rules.check_client({}) == error::address_not_allowed);
    CHECK_FALSE(rules.check_peer(ipv6));
    rules.proxies = shared({"192.0.2.7"});
    CHECK_FALSE(rules.check_peer(ipv4));
    CHECK(rules.check_peer(ipv6) == error::untrusted_proxy);
}

} // namespace cleat::app::address_list_test
