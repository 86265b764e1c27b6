#include "admin/request_rules.hpp"

#include <doctest/doctest.h>

namespace cleat::app::request_rules_test {
namespace {

net::address server(char const* host)
{
    return net::resolve(host, "9443").value().front();
}

bool is_taken(std::string_view host, net::address const& where, bool is_command)
{
    return !refusal_of({host, std::nullopt, is_command}, where);
}

} // namespace

TEST_CASE("a loopback server takes the names of the machine itself, also for reading")
{
    for (bool const is_command : {false, true}) {
        for (char const* host :
             {"127.0.0.1", "127.0.0.1:9443", "localhost:9443", "LocalHost", "[::1]:9443", "[::1]"})
            CHECK_MESSAGE(is_taken(host, server("127.0.0.1"), is_command), host);
        for (char const* host :
             {"evil.example", "evil.example:9443", "127.0.0.1.evil.example",
              "localhost.evil.example", "192.0.2.1", "", "["})
            CHECK_MESSAGE(!is_taken(host, server("127.0.0.1"), is_command), host);
    }
}

TEST_CASE(
    "a server that others reach shows its numbers under any name, and obeys under its address")
{
    net::address const where = server("192.0.2.1");
    CHECK(is_taken("cleat.example:9443", where, false));
    CHECK_FALSE(is_taken("cleat.example:9443", where, true));
    CHECK(is_taken("192.0.2.1:9443", where, true));
    CHECK(is_taken("127.0.0.1:9443", where, true));
    CHECK(is_taken("[2001:db8::1]:9443", server("2001:db8::1"), true));
}

TEST_CASE("a UNIX socket takes any Host that is no site's, also by a port that ssh forwards to it")
{
    net::address const where = net::unix_address("/run/a.sock").value();
    for (bool const is_command : {false, true}) {
        for (char const* host : {"cleat", "", "localhost:9443", "127.0.0.1:9443", "[::1]:9443"})
            CHECK_MESSAGE(is_taken(host, where, is_command), host);
        for (char const* host : {"evil.example", "evil.example:9443", "192.0.2.1"})
            CHECK_FALSE_MESSAGE(is_taken(host, where, is_command), host);
    }
    CHECK_FALSE(refusal_of({"localhost:9443", "http://localhost:9443", true}, where));
    CHECK(refusal_of({"cleat", "http://cleat", true}, where));
}

TEST_CASE("the server's own page may send commands, and no page of another origin")
{
    net::address const local = server("127.0.0.1");
    for (char const* host : {"127.0.0.1:9443", "localhost:9443", "[::1]:9443"}) {
        std::string const own = std::string{"http://"} + host;
        CHECK_FALSE(refusal_of({host, own, true}, local));
        CHECK_FALSE(refusal_of({host, own, false}, local));
    }
    // Another port is another origin; so is another name of this machine; https is not served.
    for (char const* origin :
         {"http://127.0.0.1:9444", "http://localhost:9443", "https://127.0.0.1:9443",
          "http://127.0.0.1:94433", "http://127.0.0.1", "127.0.0.1:9443"})
        CHECK_MESSAGE(refusal_of({"127.0.0.1:9443", origin, true}, local), origin);
    // DNS rebinding: the site's name is in both.
    for (char const* address : {"127.0.0.1", "192.0.2.1"})
        for (bool const is_command : {false, true})
            CHECK(refusal_of({"evil.example", "http://evil.example", is_command}, server(address)));
    CHECK_FALSE(refusal_of({"192.0.2.1:9443", "http://192.0.2.1:9443", true}, server("192.0.2.1")));
}

TEST_CASE("a request of another site's page has an Origin")
{
    for (char const* origin : {"https://evil.example", "null", ""})
        for (bool const is_command : {false, true}) {
            CHECK(refusal_of({"127.0.0.1", origin, is_command}, server("127.0.0.1")));
            CHECK(refusal_of({"cleat", origin, is_command}, net::unix_address("/a").value()));
        }
}

TEST_CASE("HTTP/1.0 has no Host")
{
    CHECK_FALSE(refusal_of({std::nullopt, std::nullopt, true}, server("127.0.0.1")));
}

} // namespace cleat::app::request_rules_test
