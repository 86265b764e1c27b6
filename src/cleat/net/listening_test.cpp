#include <cleat/net/listening.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cleat::net {
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
    return std::to_string(made.at.front().port());
}

TEST_CASE("an address and a port are read strictly")
{
    CHECK(parsed("127.0.0.1:8443") == "127.0.0.1 8443");
    CHECK(parsed("[::1]:0") == "::1 0");
    CHECK(parsed("*:65535") == "* 65535");
    CHECK(parsed("[*]:443") == "* 443");
    CHECK(parsed("localhost:80") == "localhost 80");
}

TEST_CASE("what is wrong with an address is said in words")
{
    auto const says = [](std::string const& text, std::string const& words) {
        std::string const why = refusal(text);
        CHECK_MESSAGE(why.starts_with("listen on '" + text + "': "), why);
        CHECK_MESSAGE(why.find(words) != std::string::npos, why);
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
    REQUIRE(made.by_worker.size() == 2);
    for (std::vector<unique_fd> const& sockets : made.by_worker)
        CHECK(sockets.size() == made.at.size());
    for (address const& each : made.at)
        CHECK(each.port() == made.at.front().port());
    // A machine without IPv6 has the other.
    bool const six = listen_on(resolve("::", "0").value().front(), {}).has_value();
    CHECK(made.at.size() == (six ? 2 : 1));
    std::array<int, 2> const families{AF_INET, AF_INET6};
    for (std::size_t i = 0; i < made.at.size(); ++i)
        CHECK(std::ranges::count(families, made.at[i].family()) == 1);
}

TEST_CASE("a port that somebody has is in use, also for one that would share it")
{
    listening const first = listen_on_all("127.0.0.1:0", {}, 2);
    CHECK(failure("127.0.0.1:" + port_text(first)) == std::errc::address_in_use);
    CHECK(failure("*:" + port_text(first)) == std::errc::address_in_use);
}

TEST_CASE("an address that is another machine's, or nobody's, is the system's error")
{
    CHECK(failure("192.0.2.1:0") == std::errc::address_not_available); // RFC 5737
    CHECK(failure("no such name:0"));
    CHECK_THROWS_AS(static_cast<void>(listen_on_all("::1:0", {}, 1)), std::invalid_argument);
}

} // namespace
} // namespace cleat::net
