#include <cleat/net/listening.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cleat::net::listening_test {
namespace {

std::string parsed(std::string const& text)
{
    listen_text const found = parse_listen(text);
    return found.host + " " + found.port;
}

std::string refusal(std::string const& text)
{
    try {
        return "taken as " + parsed(text);
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
}

std::error_code failure(std::string const& text)
{
    try {
        static_cast<void>(listen_on_all(text, {}, 1));
    } catch (std::system_error const& e) {
        return e.code();
    }
    return {};
}

std::string port_text(listening const& made)
{
    return std::to_string(made.addresses.front().port());
}

TEST_CASE("an address and a port are read strictly")
{
    CHECK(parsed("127.0.0.1:8443") == "127.0.0.1 8443");
    CHECK(parsed("[::1]:0") == "::1 0");
    CHECK(parsed("*:65535") == "* 65535");
    CHECK(parsed("[*]:443") == "* 443");
    CHECK(parsed("localhost:80") == "localhost 80");
}

TEST_CASE("an error names what is wrong with an address")
{
    auto const says = [](std::string const& text, std::string const& words) {
        std::string const reason = refusal(text);
        CHECK_MESSAGE(reason.starts_with("listen on '" + text + "': "), reason);
        CHECK_MESSAGE(reason.find(words) != std::string::npos, reason);
    };
    says("127.0.0.1:99999", "'99999' is no number from 0 to 65535");
    says("127.0.0.1:65536", "'65536' is no number");
    says("127.0.0.1:65537", "'65537' is no number");
    says("127.0.0.1:-1", "'-1' is no number");
    says("127.0.0.1:+1", "'+1' is no number");
    says("127.0.0.1: 1", "' 1' is no number");
    says("127.0.0.1:80x", "'80x' is no number");
    says("127.0.0.1:https", "'https' is no number");
    says("127.0.0.1:", "'' is no number");
    says("127.0.0.1", "no port");
    says("[::1]", "no port");
    says("", "no port");
    says("::1:0", "in brackets");
    says("[::1:0", "bracket");
    says("::1]:0", "bracket");
    says("x[::1]:0", "bracket");
    says("[::1]x:0", "bracket");
    says(":0", "no address");
    says("[]:0", "no address");
}

TEST_CASE("a star is every family, on one port, for each worker")
{
    listening const made = listen_on_all("*:0", {}, 2);
    result<std::vector<address>> const all = resolve("*", port_text(made));
    REQUIRE(all.has_value());
    REQUIRE(made.sockets.size() == 2);
    for (std::vector<unique_fd> const& sockets : made.sockets)
        CHECK(sockets.size() == made.addresses.size());
    for (address const& each : made.addresses)
        CHECK(each.port() == made.addresses.front().port());
    // A machine without IPv6 has IPv4 only.
    bool const six = listen_on(resolve("::", "0").value().front(), {}).has_value();
    CHECK(made.addresses.size() == (six ? 2 : 1));
    std::array<int, 2> const families{AF_INET, AF_INET6};
    for (std::size_t i = 0; i < made.addresses.size(); ++i)
        CHECK(std::ranges::count(families, made.addresses[i].family()) == 1);
}

TEST_CASE("a port of another server is in use, also where the new one would share it")
{
    listening const first = listen_on_all("127.0.0.1:0", {}, 2);
    CHECK(failure("127.0.0.1:" + port_text(first)) == std::errc::address_in_use);
    CHECK(failure("*:" + port_text(first)) == std::errc::address_in_use);
}

address address_of(std::string const& host, unsigned port = 0)
{
    return resolve(host, std::to_string(port)).value().front();
}

TEST_CASE("addresses of other machines are left out, unless a name has no other")
{
    address const others = address_of("198.51.100.1"); // RFC 5737, as the one below
    listening_attempt const some = listen_on_each({others, address_of("127.0.0.1"), others}, {}, 2);
    CHECK(some.refused.empty());
    REQUIRE(some.opened.addresses.size() == 1);
    CHECK(to_string(some.opened.addresses.front()).starts_with("127.0.0.1:"));

    listening_attempt const none = listen_on_each({others, address_of("203.0.113.1")}, {}, 1);
    CHECK(none.opened.addresses.empty());
    REQUIRE(none.refused.size() == 2);
    CHECK(none.refused[0].reason == boost::system::errc::address_not_available);
    CHECK(to_string(none.refused[1].address) == "203.0.113.1:0");
}

TEST_CASE(
    "an address of another machine is found without taking a port, also where the port is taken")
{
    address const others = address_of("198.51.100.1", 443);
    std::vector<refused_address> const refused = listen_nowhere({others, others});
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].reason == boost::system::errc::address_not_available);
    CHECK(to_string(refused[0].address) == "198.51.100.1:443");

    listening const first = listen_on_all("127.0.0.1:0", {}, 1);
    CHECK(listen_nowhere({others, first.addresses.front()}).empty());
}

TEST_CASE("an address that a name has twice is listened on once")
{
    unsigned const port =
        listen_on_all("127.0.0.1:0", {}, 1).addresses.front().port(); // Free again.
    address const twice = address_of("127.0.0.1", port);
    listening_attempt const a = listen_on_each({twice, twice}, {}, 2);
    CHECK(a.refused.empty());
    CHECK(a.opened.addresses.size() == 1);
    REQUIRE(a.opened.sockets.size() == 2);
    CHECK(a.opened.sockets[1].size() == 1);
}

TEST_CASE("every address that another server has is named")
{
    listening const first = listen_on_all("127.0.0.1:0", {}, 1);
    unsigned const port = first.addresses.front().port();
    listening const second = listen_on_all("127.0.0.2:" + std::to_string(port), {}, 1);
    listening_attempt const a = listen_on_each(
        {address_of("127.0.0.1", port), address_of("127.0.0.3", port),
         address_of("127.0.0.2", port)},
        {}, 1);
    REQUIRE(a.refused.size() == 2);
    CHECK(to_string(a.refused[0].address) == to_string(first.addresses.front()));
    CHECK(to_string(a.refused[1].address) == to_string(second.addresses.front()));
    for (refused_address const& each : a.refused)
        CHECK(each.reason == boost::system::errc::address_in_use);
}

TEST_CASE("an address of another machine, or of none, is a system error")
{
    CHECK(failure("192.0.2.1:0") == std::errc::address_not_available); // RFC 5737
    CHECK(failure("no such name:0"));
    CHECK_THROWS_AS(static_cast<void>(listen_on_all("::1:0", {}, 1)), std::invalid_argument);
}

} // namespace
} // namespace cleat::net::listening_test
