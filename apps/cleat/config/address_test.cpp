#include "config/address.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::app::address_test {
namespace {

host_port listens(std::string_view text, dialect compat = dialect::hitch)
{
    parsed<listen_address> const address = parse_listen_address(text, compat);
    INFO(text);
    REQUIRE(address.has_value());
    return address->where;
}

std::string refusal_of(std::string_view text, dialect compat = dialect::hitch)
{
    parsed<listen_address> const address = parse_listen_address(text, compat);
    INFO(text);
    REQUIRE(address.has_error());
    CHECK_FALSE(address.error().cure.empty());
    return address.error().text;
}

TEST_CASE("an address is hitch's, with brackets, or one that cannot be misread")
{
    CHECK(listens("[*]:443") == host_port{"*", 443});
    CHECK(listens("*:443") == host_port{"*", 443});
    CHECK(listens("[127.0.0.1]:8443") == host_port{"127.0.0.1", 8443});
    CHECK(listens("127.0.0.1:8443") == host_port{"127.0.0.1", 8443});
    CHECK(listens("[::1]:443") == host_port{"::1", 443});
    CHECK(listens("[fe80::1%eth0]:443") == host_port{"fe80::1%eth0", 443});
    CHECK(listens("www.example.com:443") == host_port{"www.example.com", 443});
}

TEST_CASE("what is written is read back")
{
    for (std::string const text : {"[*]:443", "[::1]:1", "[localhost]:65535"})
        CHECK(to_string(listens(text)) == text);
    for (std::string const text : {"[::1]:1", "/run/app.sock"}) {
        parsed<upstream_address> const upstream = parse_upstream_address(text, dialect::hitch);
        REQUIRE(upstream.has_value());
        CHECK(to_string(*upstream) == text);
    }
}

TEST_CASE("a frontend may name its own certificate")
{
    parsed<listen_address> const own = parse_listen_address("[*]:443+/a+b:c.pem", dialect::hitch);
    REQUIRE(own.has_value());
    CHECK(own->where == host_port{"*", 443});
    CHECK(own->certificate == "/a+b:c.pem");
    CHECK(parse_listen_address("*:443+x.pem", dialect::hitch)->certificate == "x.pem");
    CHECK(refusal_of("[*]:443+") == "no file follows the \"+\"");
}

TEST_CASE("a port is 1 to 65535, and 0 only where it means any free one")
{
    CHECK(listens("[*]:0").port == 0);
    CHECK(listens("[*]:65535").port == 65535);
    // stud and hitch let this one through, by mistake.
    CHECK(refusal_of("[*]:65536") == "port 65536 is out of range");
    CHECK(refusal_of("[*]:99999999999999999999") == "port 99999999999999999999 is out of range");
    CHECK(refusal_of("[*]:-1") == "\"-1\" is not a port");
    CHECK(refusal_of("[*]:+1") == "the port is missing");
    CHECK(refusal_of("[*]:https") == "\"https\" is not a port");
    CHECK(refusal_of("[*]:443x") == "\"443x\" is not a port");
    CHECK(refusal_of("[*]: 443") == "\" 443\" is not a port");
    CHECK(refusal_of("[*]:") == "the port is missing");
    CHECK(
        parse_upstream_address("[a]:0", dialect::hitch).error().text ==
        "port 0 is no place to connect to");
}

TEST_CASE("an IPv6 address without brackets is not guessed at")
{
    CHECK(
        refusal_of("::1:443") ==
        "in \"::1:443\" the IPv6 address and the port cannot be told apart");
    CHECK(refusal_of("::") == "in \"::\" the IPv6 address and the port cannot be told apart");
}

TEST_CASE("a text that is no address is refused with the reason")
{
    CHECK(refusal_of("") == "\"\" is not an address");
    CHECK(refusal_of("443") == "\"443\" is not an address");
    CHECK(refusal_of("[*") == "\"[*\" has no closing bracket");
    CHECK(refusal_of("[*]") == "\"[*]\" has no port");
    CHECK(refusal_of("[*]443") == "\"[*]443\" has no port");
    CHECK(refusal_of("[]:443") == "the host is empty");
    CHECK(refusal_of(":443") == "the host is empty");
    CHECK(refusal_of("[a b]:443") == "\"a b\" is not a host");
    CHECK(refusal_of("[a/b]:443") == "\"a/b\" is not a host");
    CHECK(refusal_of("[" + std::string(254, 'a') + "]:443") == "the host has 254 bytes");
    CHECK(refusal_of("/run/sock") == "\"/run/sock\" is a path");
    CHECK(refusal_of("unix:/run/sock") == "\"unix:/run/sock\" is a path");
}

TEST_CASE("stud's addresses are read in stud's dialect, and named elsewhere")
{
    CHECK(listens("*,443", dialect::stud) == host_port{"*", 443});
    CHECK(listens("127.0.0.1,443", dialect::stud) == host_port{"127.0.0.1", 443});
    CHECK(listens("[*]:443", dialect::stud) == host_port{"*", 443});
    CHECK(refusal_of("*,443") == "\"*,443\" is stud's way to write an address");
    CHECK(
        parse_listen_address("*,443", dialect::hitch).error().cure ==
        "Write [*]:443, or start with --compat=stud.");
    CHECK(refusal_of("*,https", dialect::stud) == "\"https\" is not a port");
}

TEST_CASE("an upstream is one host or a UNIX socket")
{
    auto const upstream = [](std::string_view text) {
        return parse_upstream_address(text, dialect::hitch);
    };
    CHECK(*upstream("[::1]:80") == upstream_address{host_port{"::1", 80}});
    CHECK(*upstream("/run/app.sock") == upstream_address{unix_path{"/run/app.sock"}});
    CHECK(*upstream("unix:/run/app.sock") == upstream_address{unix_path{"/run/app.sock"}});
    CHECK(*upstream("unix:80") == upstream_address{host_port{"unix", 80}});
    CHECK(
        *upstream("srv:_http._tcp.app.example") ==
        upstream_address{service_name{"_http._tcp.app.example"}});
    CHECK(to_string(*upstream("srv:app.example")) == "srv:app.example");
    CHECK(*upstream("srv:8080") == upstream_address{host_port{"srv", 8080}});
    CHECK(
        upstream("srv:app.example:80").error().text ==
        "\"app.example:80\" is not the name of a service");
    CHECK(upstream("srv:*").error().text == "\"*\" is not the name of a service");
    CHECK(upstream("[*]:80").error().text == "\"*\" is no place to connect to");
    CHECK(upstream("[a]:80+x.pem").error().text == "\"80+x.pem\" is not a port");
    CHECK(upstream("run/app.sock").error().text == "\"run/app.sock\" is not an address");

    // sockaddr_un holds 108 bytes, the last of them zero.
    CHECK(upstream("/" + std::string(106, 'a')).has_value());
    CHECK(upstream("/" + std::string(107, 'a')).error().text == "the socket's path has 108 bytes");
}

TEST_CASE("the admin server is at the number of an address, or at a path")
{
    auto const admin = [](std::string_view text) {
        return parse_admin_address(text, dialect::hitch);
    };
    CHECK(*admin("[127.0.0.1]:9443") == admin_address{host_port{"127.0.0.1", 9443}});
    CHECK(*admin("[::1]:0") == admin_address{host_port{"::1", 0}});
    CHECK(*admin("/run/a.sock") == admin_address{unix_path{"/run/a.sock"}});
    CHECK(to_string(*admin("[::1]:9443")) == "[::1]:9443");
    CHECK(to_string(*admin("/run/a.sock")) == "/run/a.sock");
    CHECK(*admin("unix:/run/a.sock") == admin_address{unix_path{"/run/a.sock"}});
    CHECK(to_string(admin_address{}).empty());
    CHECK(admin("run/a.sock").error().text == "\"run/a.sock\" is not an absolute path");
    CHECK(admin("unix:a.sock").error().text == "\"a.sock\" is not an absolute path");
    for (char const* const each : {"9443", "run/a.sock", "unix:a.sock", "localhost:9443"}) {
        std::string const cure = admin(each).error().cure;
        CHECK(cure.find("[127.0.0.1]:PORT") != cure.npos);
        CHECK(cure.find("or unix:/run/") != cure.npos);
    }
    CHECK(admin("localhost:9443").error().text == "\"localhost\" is not the number of an address");
    CHECK(admin("[*]:9443").error().text == "\"*\" is not the number of an address");
    CHECK(admin("9443").error().text == "\"9443\" is not an address");
    CHECK(admin("[::1]:https").error().text == "\"https\" is not a port");
    CHECK(admin("/" + std::string(107, 'a')).error().text == "the socket's path has 108 bytes");
}

TEST_CASE("loopback is the machine itself")
{
    CHECK(is_loopback("127.0.0.1"));
    CHECK(is_loopback("127.9.8.7"));
    CHECK(is_loopback("::1"));
    for (char const* host : {"128.0.0.1", "0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1", "x"})
        CHECK_MESSAGE(!is_loopback(host), host);
}

TEST_CASE("a host alone may have its brackets")
{
    CHECK(*parse_host("[::1]") == "::1");
    CHECK(*parse_host("::1") == "::1");
    CHECK(*parse_host("*") == "*");
    CHECK(parse_host("").has_error());
    CHECK(parse_host("[").has_error());
    CHECK(parse_host("a\x7f").has_error());
}

} // namespace
} // namespace cleat::app::address_test
