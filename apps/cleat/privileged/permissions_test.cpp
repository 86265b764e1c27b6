#include "config/parser.hpp"
#include "privileged/permissions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat::app::permissions_test {
namespace {

permissions read(std::string_view text)
{
    config settings;
    std::vector<problem> problems;
    parse_config(text, "cleat.conf", dialect::hitch, settings, problems);
    for (problem const& each : problems)
        FAIL(to_string(each));
    settings.file = "cleat.conf";
    return {settings, "/start"};
}

bind_address address(char const* host, std::uint16_t port)
{
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    if (::inet_pton(AF_INET, host, &v4.sin_addr) == 1)
        return address_from(reinterpret_cast<sockaddr const&>(v4), sizeof v4).value();
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    REQUIRE(::inet_pton(AF_INET6, host, &v6.sin6_addr) == 1);
    return address_from(reinterpret_cast<sockaddr const&>(v6), sizeof v6).value();
}

} // namespace

TEST_CASE("every file that a configuration names may be read, and no other")
{
    permissions const named = read(R"(
        pem-file = "/keys/one.pem"
        pem-file = { cert = "two.pem"  private-key = "two.key"  ocsp-resp-file = "two.ocsp" }
        client-verify = optional
        client-verify-ca = "/keys/ca.pem"
        frontend = { host = "*" port = "443"
            pem-file = "/keys/front.pem"
            client-verify-ca = "/keys/front-ca.pem"
            proxy-from = "@/lists/balancers"
            route = { sni = "a.test"  upstream = "app"  pem-file = "/keys/route.pem"
                client-verify-ca = "/keys/route-ca.pem"  client-verify-crl = "/keys/route.crl"
                client-allow-file = "/lists/route-clients" } }
        deny-from = "192.0.2.1, @denied"
        log-filename = "/var/log/cleat.log"
    )");
    for (char const* path :
         {"/start/cleat.conf", "/keys/one.pem", "/start/two.pem", "/start/two.key",
          "/start/two.ocsp", "/keys/ca.pem", "/keys/front.pem", "/keys/front-ca.pem",
          "/lists/balancers", "/start/denied", "/keys/route.pem", "/keys/route-ca.pem",
          "/keys/route.crl", "/lists/route-clients"})
        CHECK_MESSAGE(named.may_read(path), path);
    for (char const* path :
         {"/etc/shadow", "/keys", "/keys/", "/keys/one.pem/x", "/keys/../keys/one.pem",
          "/keys/one.pe", "/two.pem", "/", "/start/", "/var/log/cleat.log"})
        CHECK_MESSAGE(!named.may_read(path), path);
    CHECK_FALSE(named.may_list("/keys"));
    CHECK(named.may_log_to("/var/log/cleat.log"));
    CHECK_FALSE(named.may_log_to("/keys/one.pem"));
    CHECK_FALSE(named.may_log_to("/var/log/../log/cleat.log"));
}

TEST_CASE("a path is compared without empty parts, and with its two dots")
{
    permissions const named = read("pem-file = \"/etc/./cleat//../keys/one.pem\"\n");
    CHECK(named.may_read("/etc/cleat/../keys/one.pem"));
    CHECK(named.may_read("/etc//cleat/../keys/./one.pem"));
    CHECK_FALSE(named.may_read("/etc/keys/one.pem"));
    CHECK(absolute_path("/start", "a//b/./c/") == "/start/a/b/c");
    CHECK(absolute_path("/", ".") == "/");
}

TEST_CASE("a pem-dir gives its files, and its subfolders only where it is recursive")
{
    permissions const flat = read("pem-dir = \"/pems/\"\n");
    CHECK(flat.may_list("/pems"));
    CHECK(flat.may_read("/pems/one.pem"));
    for (char const* path :
         {"/pems/sub/one.pem", "/pems/.hidden", "/pems/..", "/pems/../etc/shadow", "/pems",
          "/pemsother/one.pem", "/pems/./../one"})
        CHECK_MESSAGE(!flat.may_read(path), path);
    CHECK_FALSE(flat.may_list("/pems/sub"));
    CHECK_FALSE(flat.may_list("/"));

    permissions const deep = read("pem-dir = \"/pems\"\npem-dir-recursive = on\n");
    CHECK(deep.may_read("/pems/a/b/one.pem"));
    CHECK(deep.may_list("/pems/a/b"));
    for (char const* path : {"/pems/a/../../etc/shadow", "/pems/.git/key", "/pems/a/.b/c"}) {
        CHECK_MESSAGE(!deep.may_read(path), path);
        CHECK_MESSAGE(!deep.may_list(path), path);
    }
}

TEST_CASE("the file of ticket-secret may be read, and no other in its folder")
{
    permissions const named = read("ticket-secret = \"keys/tickets\"");
    CHECK(named.may_read("/start/keys/tickets"));
    CHECK_FALSE(named.may_read("/start/keys/other"));
    CHECK_FALSE(named.may_list("/start/keys"));
}

TEST_CASE("the files of client-verify-crl and client-allow-file may be read")
{
    permissions const named = read(R"(
        client-verify-crl = "crls/"
        client-allow-file = "/rules/clients"
        frontend = { port = "443" client-verify-crl = "/crls/front.crl" }
    )");
    for (char const* path : {"/start/crls/ca.crl", "/rules/clients", "/crls/front.crl"})
        CHECK_MESSAGE(named.may_read(path), path);
    for (char const* path :
         {"/start/crls/.hidden", "/start/crls/sub/ca.crl", "/rules/other", "/crls/other.crl"})
        CHECK_MESSAGE(!named.may_read(path), path);
    CHECK(named.may_list("/start/crls"));
    CHECK_FALSE(named.may_list("/rules"));
    CHECK(named.names_below("/start/crls/ca.crl") == 1);
    CHECK(named.names_below("/rules/clients") == 0);
}

TEST_CASE("acme-challenges gives the PEM files in it")
{
    permissions const named = read("acme-challenges = \"challenges/\"\n");
    CHECK(named.may_list("/start/challenges"));
    CHECK(named.may_read("/start/challenges/www.example.org.key.pem"));
    CHECK(named.names_below("/start/challenges/www.example.org.key.pem") == 1);
    CHECK_FALSE(named.may_read("/start/challenges/www.example.org.key"));
    CHECK_FALSE(named.may_read("/start/challenges/below/www.example.org.pem"));
    CHECK_FALSE(named.may_read("/start/other.pem"));
}

TEST_CASE("a pem-dir-glob leaves out the other files")
{
    permissions const named =
        read("pem-dir = \"/pems\"\npem-dir-glob = \"*.pem\"\npem-dir-recursive = on\n");
    CHECK(named.may_read("/pems/one.pem"));
    CHECK(named.may_read("/pems/sub/one.pem"));
    CHECK_FALSE(named.may_read("/pems/one.key"));
    CHECK(named.may_list("/pems/sub"));
}

TEST_CASE("a port may be bound with the address of its frontend")
{
    permissions const named = read(R"(
        frontend = "[192.0.2.1]:443"
        frontend = "[*]:80"
        frontend = "[2001:db8::1]:444"
        frontend = "[www.example.org]:445"
    )");
    CHECK(named.may_bind(address("192.0.2.1", 443)));
    CHECK_FALSE(named.may_bind(address("192.0.2.2", 443)));
    CHECK_FALSE(named.may_bind(address("0.0.0.0", 443)));
    CHECK_FALSE(named.may_bind(address("192.0.2.1", 22)));
    CHECK(named.may_bind(address("0.0.0.0", 80)));
    CHECK(named.may_bind(address("::", 80)));
    CHECK_FALSE(named.may_bind(address("192.0.2.1", 80)));
    CHECK(named.may_bind(address("2001:db8::1", 444)));
    CHECK_FALSE(named.may_bind(address("2001:db8::2", 444)));
    CHECK_FALSE(named.may_bind(address("192.0.2.1", 444)));
    CHECK(named.may_bind(address("198.51.100.7", 445))); // A name: any address.
}

TEST_CASE("the admin server's port may be bound with its address")
{
    permissions const named = read("admin = \"[127.0.0.1]:943\"\n");
    CHECK(named.may_bind(address("127.0.0.1", 943)));
    CHECK_FALSE(named.may_bind(address("127.0.0.1", 22)));
    CHECK_FALSE(named.may_bind(address("0.0.0.0", 943)));
    CHECK_FALSE(read("admin = \"/run/cleat/admin.sock\"\n").may_bind(address("127.0.0.1", 0)));
}

TEST_CASE("an access log that is a file is a log file")
{
    CHECK(read("access-log = \"/var/log/access.log\"\n").may_log_to("/var/log/access.log"));
    for (char const* target : {"off", "stdout", "syslog"})
        CHECK_FALSE(read(std::string{"access-log = "} + target + '\n')
                        .may_log_to(std::string{"/start/"} + target));
}

TEST_CASE("the standard descriptors are no log file")
{
    CHECK_FALSE(read("access-log = \"/dev/stdout\"\n").may_log_to("/dev/stdout"));
    CHECK_FALSE(read("log-filename = \"/dev/stderr\"\n").may_log_to("/dev/stderr"));
    CHECK_FALSE(read("").may_log_to("/"));
}

} // namespace cleat::app::permissions_test
