#include "config/check.hpp"
#include "config/parser.hpp"
#include "config/reference.hpp"
#include "config/route_settings.hpp"
#include "config/tls_scope.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::check_client_mode_test {
namespace {

std::vector<std::string> complaints(std::string const& text, config* result_settings = nullptr)
{
    config settings;
    std::vector<problem> problems;
    parse_config(text, "c", dialect::hitch, settings, problems);
    check(settings, problems);
    std::vector<std::string> found;
    for (problem const& each : problems)
        found.push_back(to_string(each));
    if (result_settings != nullptr)
        *result_settings = settings;
    return found;
}

config accepted(std::string const& text)
{
    config made;
    INFO(text);
    for (std::string const& each : complaints(text, &made))
        FAIL_CHECK(each);
    return made;
}

std::string complaint(std::string const& text)
{
    std::vector<std::string> const found = complaints(text);
    INFO(text);
    for (std::string const& each : found)
        INFO(each);
    REQUIRE(found.size() == 1);
    return found.front();
}

std::string const block = "upstream = { name = app tls = on server = \"[a]:1\" }\n";
std::string const plain_block = "upstream = { name = bare server = \"[a]:1\" }\n";

std::string frontend(std::string const& lines, std::string const& to = "app")
{
    return "frontend = { port = 1 client = on upstream = " + to + "\n" + lines + " }\n";
}

TEST_CASE("a frontend in plaintext needs no certificate, and a backend with TLS none either")
{
    config const one = accepted(block + frontend(""));
    CHECK(takes_plaintext(one, one.frontends.at(0)));
    config const all = accepted("client = on backend = \"[a]:1\"");
    CHECK(takes_plaintext(all, all.frontends.at(0)));
    CHECK(*backend_block(all).tls.enabled);
    CHECK_FALSE(*backend_block(one).tls.enabled);
}

TEST_CASE("both kinds of frontends stand beside each other")
{
    config const c = accepted(
        block + frontend("") + "frontend = { port = 2 pem-file = a }\nciphers = \"AES128-SHA256\"");
    CHECK_FALSE(takes_plaintext(c, c.frontends.at(1)));
    config const other =
        accepted("client = on frontend = { port = 1 } frontend = { port = 2 client = off "
                 "pem-file = a }");
    CHECK(takes_plaintext(other, other.frontends.at(0)));
    CHECK_FALSE(takes_plaintext(other, other.frontends.at(1)));
    CHECK(
        complaint(block + frontend("") + "frontend = { port = 2 }")
            .find("no certificate for [*]:2") != std::string::npos);
}

TEST_CASE("plaintext that would stay plaintext is an error")
{
    CHECK(
        complaint(plain_block + frontend("", "bare")) ==
        "c:2:46: error: client: the clients of [*]:1 send plaintext, and the upstream bare takes "
        "plaintext: nothing would be encrypted. Write tls = on into the upstream bare.");
    CHECK(
        complaint("frontend = { port = 1 client = on }") ==
        "c:1:32: error: client: the clients of [*]:1 send plaintext, and the backend takes "
        "plaintext: nothing would be encrypted. Write client = on at the top, for a backend that "
        "speaks TLS, or an upstream block with tls = on.");
    std::string const route = "route = { client-address = \"192.0.2.0/24\" upstream = bare }";
    CHECK(
        complaint(block + plain_block + frontend(route)).find("the upstream bare takes") !=
        std::string::npos);
}

TEST_CASE("a route asks for the client's address only")
{
    accepted(block + frontend("route = { client-address = \"192.0.2.0/24\" upstream = app }"));
    for (std::string_view const condition : {"sni = a.example", "alpn = h2"}) {
        std::string const found = complaint(
            block + frontend("route = { " + std::string{condition} + " upstream = app }"));
        CHECK(found.starts_with("c:3:"));
        CHECK(found.find("a client in plaintext has none") != std::string::npos);
        CHECK(found.find("client-address") != std::string::npos);
    }
    CHECK(
        complaint(block + frontend("route = { client-certificate = { cn = a } upstream = app }"))
            .find("client-certificate: a client in plaintext has none") != std::string::npos);
}

TEST_CASE("a setting for clients' TLS is an error where no client speaks it")
{
    for (std::string_view const line :
         {"pem-file = a", "match-global-certs = on", "sni-nomatch-abort = on",
          "client-verify = required", "client-verify-ca = ca", "tls-protos = TLSv1.3",
          "ciphers = x", "ciphersuites = x", "client-verify-crl = x", "client-allow-file = x",
          "certificate-compression = brotli", "ecdh-curve = X25519"}) {
        std::string const text = block + frontend(std::string{line});
        std::string const found = complaint(text);
        CHECK(found.starts_with("c:3:"));
        CHECK(found.find("this frontend takes plaintext") != std::string::npos);
    }
    for (std::string_view const line :
         {"pem-file = a", "pem-dir = \"/a\"", "alpn-protos = h2", "acme-challenges = \"/a\"",
          "ticket-secret = a", "ticket-epoch = 600", "ticket-lifetime = 600", "tickets = 2",
          "tickets-resumed = 0", "session-cache = 0", "client-verify = required",
          "client-verify-ca = ca", "certificate-compression = brotli", "sni-nomatch-abort = on",
          "tls-protos = TLSv1.3", "ecdh-curve = X25519"}) {
        std::string const found = complaint(block + frontend("") + std::string{line});
        CHECK(found.starts_with("c:4:"));
        CHECK(found.find("every frontend takes plaintext") != std::string::npos);
        // Beside a frontend where TLS ends most of them have an effect.
        if (line.starts_with("alpn") || line.starts_with("sni"))
            accepted(
                block + frontend("") + "frontend = { port = 2 pem-file = a }\n" +
                std::string{line});
    }
}

std::string route(std::string_view lines)
{
    return block + frontend(
                       "route = { client-address = \"10.0.0.0/8\" upstream = app\n" +
                       std::string{lines} + " }");
}

TEST_CASE("a route's setting for clients' TLS is an error where no client speaks it")
{
    std::string const with_tls = "frontend = { port = 2 pem-file = a upstream = app }\n";
    for (std::string_view const line :
         {"pem-file = a", "tls-protos = TLSv1.3", "ciphers = x", "ciphersuites = x",
          "ecdh-curve = X25519", "prefer-server-ciphers = on", "certificate-compression = brotli",
          "client-verify = required", "client-verify-ca = ca", "client-verify-crl = x",
          "client-verify-depth = 1", "client-allow-file = x", "client-allow = { cn = a }"})
        for (std::string const& more : {std::string{}, with_tls}) {
            std::string const found = complaint(route(line) + more);
            CHECK(found.starts_with("c:4:"));
            CHECK(
                found.find("this is for clients that speak TLS, and the route's frontend takes "
                           "plaintext. Leave it out, or turn client off in the frontend.") !=
                std::string::npos);
        }
    for (std::string_view const key : {"proxy-tlv", "proxy-authority", "proxy-client-cert"}) {
        std::string const found =
            complaint(route("write-proxy-v2 = on\n" + std::string{key} + " = on"));
        CHECK(found.starts_with("c:5:"));
        CHECK(found.find(std::string{key} + ": there is no fact of TLS") != std::string::npos);
    }
    CHECK(
        complaint(route("write-proxy-v2 = on\nproxy-inbound-tlvs = drop"))
            .find("c:5:22: error: proxy-inbound-tlvs: there are no TLVs") == 0);
}

TEST_CASE("a route in plaintext has a header and a limit of its own")
{
    config const c = accepted(route("write-proxy-v2 = on proxy-checksum = on max-connections = 5"));
    route_config const& one = c.frontends.at(0).routes.at(0);
    CHECK(announcement_rule_of(c).way == announcement::nothing);
    CHECK(announcement_rule_of(c, one).way == announcement::write_proxy_v2);
    CHECK(announcement_rule_of(c, one).has_checksum);
    CHECK(connection_limit_of(one) == 5);
    CHECK(tls_scopes_of(c).size() == 1);
}

TEST_CASE("the scope of a frontend in plaintext takes plaintext, too")
{
    config const c = accepted(
        route("write-proxy-v1 = on") + "frontend = { port = 2 pem-file = a upstream = app\n"
                                       "route = { sni = a.test tls-protos = TLSv1.3 "
                                       "upstream = app } }\n");
    std::vector<tls_scope> const scopes = tls_scopes_of(c);
    REQUIRE(scopes.size() == 3);
    CHECK(takes_plaintext(c, scopes[0].frontend()));
    CHECK_FALSE(takes_plaintext(c, scopes[1].frontend()));
    CHECK_FALSE(takes_plaintext(c, scopes[2].frontend()));
}

TEST_CASE("with client at the top the backend has TLS as the top has it")
{
    config const c =
        accepted("client = on tls-protos = TLSv1.3 ecdh-curve = X25519 ciphersuites = x\n"
                 "tls-name = a.internal tls-ca = ca tls-cert = cert tls-key = key tls-alpn = h2");
    upstream_tls_config const tls = backend_block(c).tls;
    CHECK(*tls.verify);
    CHECK(*tls.name == "a.internal");
    CHECK_FALSE(tls.protos->tls_1_2);
    CHECK(*tls.groups == "X25519");
    CHECK(*tls.ciphersuites == "x");
    CHECK(upstream_files_of(c).size() == 3);
    CHECK_FALSE(*backend_block(accepted("client = on tls-verify = off")).tls.verify);
    CHECK(
        complaint("client = on tls-verify = off\ntls-ca = ca").find("tls-verify is off") !=
        std::string::npos);
    CHECK(
        complaint("client = on tls-protos = TLSv1.3 ciphers = x").find("leaves out") !=
        std::string::npos);
    CHECK(
        complaint("client = on backend = \"/run/app.sock\"").find("Set tls-name to the name") !=
        std::string::npos);
}

TEST_CASE("settings of the backend's TLS need it")
{
    CHECK(
        complaint("pem-file = a\ntls-ca = ca") ==
        "c:2:10: error: tls-ca: this is for a backend that speaks TLS, and client is off. Write it "
        "into an upstream block with tls = on, or turn client on.");
    CHECK(
        complaint(block + "upstream = app client = on\ntls-ca = ca")
            .find("this is for the backend, which no frontend uses") != std::string::npos);
}

TEST_CASE("a client in plaintext has agreed on no protocol")
{
    std::string const text = "upstream = { name = app tls = on server = \"[a]:1\"\n"
                             "tls-alpn = client }\n" +
                             frontend("") + "frontend = { port = 2 pem-file = a upstream = app }\n";
    CHECK(
        complaint(text + "alpn-protos = h2")
            .find("c:2:12: error: tls-alpn: the clients of [*]:1") == 0);
}

TEST_CASE("the file of all defaults has no setting of client mode")
{
    accepted(default_configuration() + "\npem-file = a\n");
}

} // namespace
} // namespace cleat::app::check_client_mode_test
