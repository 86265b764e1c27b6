// The name of a host in SNI, in certificates and in an HTTP request.

#include "generate/target.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

namespace cleat::bench::target_test {
namespace {

TEST_CASE("the name of a host in SNI means the same on the other machine")
{
    CHECK(server_name_of("www.example.org") == "www.example.org");
    CHECK(server_name_of("www.example.org.") == "www.example.org");
    CHECK(server_name_of("192.0.2.1") == "192.0.2.1");
    CHECK(server_name_of("fe80::1%eth0") == "fe80::1");
}

TEST_CASE("an HTTP request's host has brackets and the port, as in a URL")
{
    CHECK(host_field("www.example.org", "443") == "www.example.org");
    CHECK(host_field("www.example.org", "8443") == "www.example.org:8443");
    CHECK(host_field("::1", "443") == "[::1]");
    CHECK(host_field("::1", "8443") == "[::1]:8443");
}

TEST_CASE("SNI has names of hosts only")
{
    for (std::string const good :
         {"localhost", "a.example", "_dmarc.a.example", "xn--mnchen-3ya.de"})
        CHECK_NOTHROW(check_server_name("--sni", good));
    CHECK_NOTHROW(check_server_name("--sni", std::string(253, 'a')));

    auto const refused = [](std::string const& name, char const* why) {
        CAPTURE(name);
        CHECK_THROWS_WITH_AS(
            check_server_name("--sni", name), doctest::Contains(why), std::runtime_error);
        CHECK_THROWS_WITH(check_server_name("--sni", name), doctest::Contains("--sni"));
    };
    for (std::string const address : {"192.0.2.1", "::1", "[::1]", "2001:db8::1"})
        refused(address, "RFC 6066");
    for (std::string const odd : {"a b", "a/b", "*.example", "a:443", "m\xc3\xbcnchen.de"})
        refused(odd, "letters, digits, hyphens and dots");
    for (std::string const dotted : {"a.example.", ".example", "a..example", "."})
        refused(dotted, "dot");
    refused(std::string(254, 'a'), "253");
}

} // namespace
} // namespace cleat::bench::target_test
