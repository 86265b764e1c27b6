#include "config/check.hpp"
#include "config/parser.hpp"
#include "config/route_settings.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::check_limits_test {
namespace {

// Two frontends, on the lines 1 and 2, and settings from line 3 on.
std::vector<std::string> complaints(
    std::string_view first, std::string_view second, std::string_view more, config& settings)
{
    std::string const text = fmt::format(
        "frontend = {{ port = 1 {} }}\nfrontend = {{ port = 2 {} }}\n{}\npem-file = a\n"
        "upstream = {{ name = u server = \"/s\" }}\nupstream = u\n",
        first, second, more);
    std::vector<problem> problems;
    parse_config(text, "c", dialect::hitch, settings, problems);
    REQUIRE(problems.empty());
    check(settings, problems);
    std::vector<std::string> found;
    for (problem const& each : problems)
        found.push_back(to_string(each));
    return found;
}

config accepted(std::string_view first, std::string_view second, std::string_view more = {})
{
    config settings;
    for (std::string const& each : complaints(first, second, more, settings))
        FAIL_CHECK(each);
    return settings;
}

bool is_refused(
    std::string_view complaint, std::string_view first, std::string_view second,
    std::string_view more = {})
{
    config settings;
    std::vector<std::string> const found = complaints(first, second, more, settings);
    for (std::string const& each : found)
        MESSAGE(each);
    return found.size() == 1 && found.front().find(complaint) != std::string::npos;
}

TEST_CASE("a frontend's limits of a client replace the global ones, one by one")
{
    config const c = accepted(
        "client-max-connections = 5", "", "client-max-connections = 9 client-handshake-rate = 3");
    client_limit_settings const own = client_limits_of(c, c.frontends[0]);
    CHECK(*own.connections == 5);
    CHECK(*own.rate == 3);
    CHECK(has_client_limits(c.frontends[0]));
    CHECK(*client_limits_of(c, c.frontends[1]).connections == 9);
    CHECK_FALSE(has_client_limits(c.frontends[1]));
}

TEST_CASE("a frontend can be without the global limit")
{
    config const c = accepted("client-max-connections = 0", "", "client-max-connections = 9");
    CHECK_FALSE(client_limits_of(c, c.frontends[0]).is_on());
}

TEST_CASE("a global limit that every frontend replaces is a mistake")
{
    CHECK(is_refused(
        "c:3:26: error: client-max-connections: this has no effect: every frontend has its own "
        "client-max-connections. Leave it out, or leave out a frontend's.",
        "client-max-connections = 5", "client-max-connections = 6", "client-max-connections = 9"));
}

TEST_CASE("a burst needs a rate, which may be another scope's")
{
    accepted("client-handshake-burst = 9", "", "client-handshake-rate = 3");
    accepted("client-handshake-rate = 3", "", "client-handshake-burst = 9");
    CHECK(is_refused(
        "c:1:48: error: client-handshake-burst: this", "client-handshake-burst = 9", ""));
    CHECK(is_refused(
        "c:1:", "client-handshake-rate = 0 client-handshake-burst = 9", "",
        "client-handshake-rate = 3"));
    CHECK(is_refused(
        "Set client-handshake-rate, or leave this out.",
        "route = { sni = a.test upstream = u client-handshake-burst = 9 }", "",
        "client-handshake-rate = 3"));
}

TEST_CASE("a prefix is for the limits of a frontend or a route, too")
{
    accepted("client-handshake-rate = 3", "", "client-prefix-ipv4 = 24");
    accepted(
        "route = { sni = a.test upstream = u client-max-connections = 3 }", "",
        "client-table-size = 24");
    CHECK(is_refused("clients have no limit", "", "", "client-prefix-ipv4 = 24"));
}

TEST_CASE("a client's limit is below that of all connections around it")
{
    CHECK(is_refused(
        "client-max-connections: this has no effect: max-connections is 5 around it, by c:1:",
        "max-connections = 5 client-max-connections = 5", ""));
    CHECK(is_refused(
        "max-connections is 5 around it, by c:3:", "client-max-connections = 6", "",
        "max-connections = 5"));
    accepted("max-connections = 5 client-max-connections = 4", "");
    // The global one is for the second frontend alone, whose connections have no limit.
    accepted("max-connections = 5 client-max-connections = 4", "", "client-max-connections = 50");
    // A frontend with another limit of its own has the global one, too.
    accepted(
        "max-connections = 50", "max-connections = 500 client-handshake-rate = 10",
        "client-max-connections = 100");
    CHECK(is_refused(
        "the frontends without one of their own have at most 7 together",
        "max-connections = 5 client-max-connections = 4", "max-connections = 7",
        "client-max-connections = 50"));
}

TEST_CASE("a route's limits of a client are narrower than those around it")
{
    auto const route = [](std::string_view limits) {
        return fmt::format("route = {{ sni = a.test upstream = u {} }}", limits);
    };
    accepted(route("client-max-connections = 4"), "", "client-max-connections = 5");
    CHECK(is_refused(
        "client-max-connections: this has no effect: client-max-connections is 5 around it, by "
        "c:3:",
        route("client-max-connections = 5"), "", "client-max-connections = 5"));
    CHECK(is_refused(
        "max-connections is 2 around it", route("max-connections = 2 client-max-connections = 2"),
        ""));
    accepted(
        route("client-handshake-rate = 4"), "",
        "client-handshake-rate = 5 client-handshake-burst = 5");
    accepted( // It may begin fewer at once.
        route("client-handshake-rate = 5 client-handshake-burst = 2"), "",
        "client-handshake-rate = 5");
    CHECK(is_refused(
        "client-handshake-rate: this has no effect: client-handshake-rate is 5 around it, by "
        "c:3:25, and a client may begin 5 at once",
        route("client-handshake-rate = 6"), "", "client-handshake-rate = 5"));
}

TEST_CASE("where every peer's header names the client, no scope limits clients")
{
    CHECK(is_refused(
        "c:1:48: error: client-max-connections: proxy-proxy takes a PROXY header from every peer",
        "client-max-connections = 5", "", "proxy-proxy = on"));
    accepted("client-max-connections = 5 proxy-from = \"10.0.0.0/8\"", "", "proxy-proxy = on");
    CHECK(is_refused( // Once, however many frontends have it.
        "Name the load balancers with proxy-from", "", "",
        "proxy-proxy = on client-max-connections = 5"));
}

} // namespace
} // namespace cleat::app::check_limits_test
