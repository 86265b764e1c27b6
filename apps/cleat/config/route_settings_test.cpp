#include "config/check.hpp"
#include "config/parser.hpp"
#include "config/route_settings.hpp"
#include "config/tls_scope.hpp"
#include "config/upstream_index.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::route_settings_test {
namespace {

struct checked_settings
{
    config settings;
    std::vector<problem> problems;
};

// A frontend with these routes, and settings before it. Each route has its line, from 2 on.
checked_settings checked(
    std::vector<std::string> const& routes, std::string_view more = {},
    std::string_view in_frontend = {})
{
    std::string text = fmt::format("frontend = {{ port = 1 {}\n", in_frontend);
    for (std::string const& each : routes)
        text += fmt::format("route = {{ upstream = u {} }}\n", each);
    text += "}\n";
    text += fmt::format("pem-file = global\nupstream = {{ name = u server = \"/s\" }}\n{}", more);
    checked_settings made;
    parse_config(text, "c", dialect::hitch, made.settings, made.problems);
    REQUIRE(made.problems.empty());
    check(made.settings, made.problems);
    return made;
}

config accepted(
    std::vector<std::string> const& routes, std::string_view more = {},
    std::string_view in_frontend = {})
{
    checked_settings made = checked(routes, more, in_frontend);
    for (problem const& each : made.problems)
        FAIL_CHECK(to_string(each));
    return made.settings;
}

bool is_refused(
    std::vector<std::string> const& routes, std::string_view complaint, std::string_view more = {},
    std::string_view in_frontend = {})
{
    checked_settings const made = checked(routes, more, in_frontend);
    for (problem const& each : made.problems)
        MESSAGE(to_string(each));
    return made.problems.size() == 1 &&
           to_string(made.problems.front()).find(complaint) != std::string::npos;
}

TEST_CASE("a route without settings has none, and its frontend is the only scope")
{
    config const c = accepted({"sni = a.test", "sni = b.test"});
    for (route_config const& each : c.frontends[0].routes) {
        CHECK(each.settings == nullptr);
        CHECK_FALSE(has_tls_settings(each));
        CHECK(connection_limit_of(each) == 0);
    }
    CHECK(tls_scopes_of(c).size() == 1);
    CHECK(own_settings_of(c).size() == 1);
    CHECK(announcement_rules_of(c).size() == 1);
}

TEST_CASE("a route's scope has its settings, and else those of its frontend")
{
    config const c = accepted(
        {"sni = a.test client-verify = required pem-file = own pem-file = { cert = second }",
         "sni = b.test tls-protos = TLSv1.3 ecdh-curve = X25519"},
        "client-verify-ca = global-ca", "client-verify-depth = 2 client-verify = optional");
    std::vector<tls_scope> const scopes = tls_scopes_of(c);
    REQUIRE(scopes.size() == 3);
    CHECK(**scopes[0].own(&frontend_config::client_verify) == client_verify::optional);

    CHECK(**scopes[1].own(&frontend_config::client_verify) == client_verify::required);
    CHECK(**scopes[1].own(&frontend_config::client_verify_depth) == 2);
    CHECK(scopes[1].place().line == 2);
    CHECK(scopes[1].pem_files().size() == 2);
    CHECK_FALSE(scopes[1].uses_global_certs());

    CHECK(**scopes[2].own(&frontend_config::client_verify) == client_verify::optional);
    CHECK_FALSE((**scopes[2].own(&frontend_config::tls_protos)).tls_1_2);
    CHECK(**scopes[2].own(&frontend_config::ecdh_curve) == "X25519");
    CHECK(scopes[2].uses_global_certs());
    std::vector<own_certificates> const own = own_certificates_of(c);
    REQUIRE(own.size() == 1);
    CHECK_FALSE(own[0].with_global);
}

TEST_CASE("a route's rules for certificates replace those of its frontend, with the file")
{
    config const c = accepted(
        {"sni = a.test client-allow = { cn = alice }"}, "client-verify-ca = ca",
        "client-verify = required client-allow-file = f client-allow = { cn = bob }");
    tls_scope const scope{c.frontends[0], c.frontends[0].routes[0]};
    CHECK(scope.certificate_rules().size() == 1);
    CHECK(scope.certificate_rules()[0].location.line == 2);
    CHECK_FALSE(scope.own(&frontend_config::client_allow_file));
}

TEST_CASE("a route's header replaces the one for all")
{
    auto const rule = [](std::string const& route, std::string_view more) {
        config const c = accepted({"sni = a.test " + route}, more);
        return announcement_rule_of(c, c.frontends[0].routes[0]);
    };
    using enum announcement;
    CHECK(rule("write-proxy-v1 = on", "").way == write_proxy_v1);
    CHECK(rule("write-proxy-v1 = on", "write-proxy-v2 = on").way == write_proxy_v1);
    CHECK(rule("write-proxy-v2 = off", "write-proxy-v2 = on").way == nothing);
    CHECK(rule("write-ip = off", "write-proxy-v2 = on").way == write_proxy_v2);
    announcement_rule const v2 =
        rule("write-proxy-v2 = on proxy-tlv = off proxy-checksum = on", "proxy-authority = off");
    CHECK(v2.way == write_proxy_v2);
    CHECK_FALSE(v2.has_tls_facts);
    CHECK_FALSE(v2.has_server_name);
    CHECK(v2.has_checksum);
    CHECK(
        rule("proxy-proxy = on", "write-proxy-v2 = on proxy-from = \"10.0.0.0/8\"").way ==
        proxy_proxy);
}

TEST_CASE("a passthrough has no settings of TLS")
{
    CHECK(is_refused(
        {"sni = a.test passthrough = on pem-file = own"},
        "c:2:65: error: pem-file: this has no effect: with passthrough the upstream ends TLS. "
        "Leave it or passthrough out."));
    CHECK(is_refused({"sni = a.test passthrough = on tls-protos = TLSv1.3"}, "tls-protos: this"));
    CHECK(is_refused(
        {"sni = a.test passthrough = on write-proxy-v2 = on proxy-tlv = off"},
        "proxy-tlv: cleat knows no fact of TLS here"));
    accepted({"sni = a.test passthrough = on write-proxy-v2 = on max-connections = 9"});
}

TEST_CASE("settings of TLS and the limit do not depend on the client's certificate")
{
    std::string const by_certificate = "sni = a.test client-certificate = { cn = alice } ";
    std::string const asks = "sni = a.test client-verify = required client-verify-ca = ca";
    CHECK(is_refused(
        {by_certificate + "tls-protos = TLSv1.3", asks},
        "error: tls-protos: TLS begins before the client shows the certificate that "
        "client-certificate at c:2:37 asks for. Write this into a route for the same clients "
        "without client-certificate, behind this one, or into the frontend."));
    CHECK(is_refused(
        {by_certificate + "max-connections = 3", asks},
        "max-connections: connections are counted"));
    for (std::string const key : {"client-max-connections", "client-handshake-rate"})
        CHECK(is_refused(
            {by_certificate + key + " = 3", asks},
            key + ": connections are counted before the client shows the certificate"));
    accepted({by_certificate + "write-proxy-v1 = on", asks});
    CHECK(is_refused({by_certificate}, "client-certificate: no client of this route is asked"));
}

TEST_CASE("two routes for the same clients cannot have other settings")
{
    CHECK(is_refused(
        {"sni = a.test tls-protos = TLSv1.3", "sni = a.test tls-protos = TLSv1.2"},
        "c:3:30: error: sni: this is never chosen: the route at c:2:1 takes all clients"));
}

TEST_CASE("what a route's settings leave without effect is a mistake, once")
{
    std::string const route = "sni = a.test ";
    CHECK(is_refused({route + "client-verify-ca = ca"}, "client-verify-ca: this verifies nobody"));
    CHECK(is_refused({route + "client-verify-depth = 1"}, "no client is asked"));
    CHECK(is_refused({route + "client-allow = { cn = a }"}, "client-allow: no client is asked"));
    CHECK(is_refused({route + "client-verify = required"}, "without client-verify-ca"));
    CHECK(
        is_refused({route + "tls-protos = TLSv1.3 ciphers = \"AES128\""}, "ciphers: this is for"));
    CHECK(is_refused({route + "proxy-checksum = on"}, "is off for this route"));
    CHECK(is_refused({route + "write-ip = on write-proxy-v1 = on"}, "excludes write-ip"));
    CHECK(is_refused({route + "proxy-proxy = on"}, "the frontend expects none"));
    CHECK(is_refused(
        {route + "write-proxy-v2 = on proxy-client-cert = on"}, "client-verify is none"));
    CHECK(is_refused(
        {route + "max-connections = 5"}, "max-connections is 5 around it", "max-connections = 5"));
    CHECK(is_refused(
        {route + "client-allow = { }"}, "this rule asks for nothing", "",
        "client-verify = required client-verify-ca = ca"));
}

TEST_CASE("a certificate's rule for its clients and a route's cannot both hold")
{
    std::string const asks = "sni = a.test client-verify = required client-verify-ca = ca ";
    std::string const pem = "pem-file = { cert = x client-verify = none }";
    CHECK(is_refused({asks}, "client-verify: the certificate x, by c:6:", pem));
    CHECK(is_refused({asks}, "client-verify: the certificate x, by c:1:", "", pem));
    accepted({asks}, pem, "pem-file = own");
    accepted({asks + "pem-file = own"}, pem);
    accepted({asks + pem});
}

TEST_CASE("a setting of the frontend may be for a route alone")
{
    std::string const asks = "sni = a.test client-verify = required";
    accepted({asks}, "client-verify-ca = ca");
    accepted({asks}, "", "client-verify-ca = ca client-verify-depth = 3 client-verify-crl = crl");
    accepted({asks}, "client-allow = { cn = alice }", "client-verify-ca = ca");
    accepted(
        {"sni = a.test tls-protos = TLSv1.2"}, "", "tls-protos = TLSv1.3 ciphers = \"AES128\"");
    accepted({"sni = a.test write-proxy-v2 = on"}, "proxy-checksum = on");
    accepted({asks + " write-proxy-v2 = on"}, "proxy-client-cert = on", "client-verify-ca = ca");
}

TEST_CASE("an upstream is found by its name, with the ways in which its clients are announced")
{
    config const c = accepted(
        {"sni = a.test write-proxy-v1 = on", "sni = b.test write-ip = on", "sni = c.test"},
        "upstream = { name = v server = \"/t\" } upstream = { name = w server = \"/u\" }\n"
        "frontend = { port = 2 upstream = v\n"
        "route = { sni = a.test upstream = w write-proxy-v2 = on } }\n"
        "frontend = { port = 3 upstream = v }\n");
    upstream_index const index{c};
    REQUIRE(index.find("w") != nullptr);
    CHECK(*index.find("w")->name == "w");
    CHECK(index.find("x") == nullptr);
    CHECK(index.find("") == nullptr);

    CHECK(index.announcement_of_checks("w") == announcement::write_proxy_v2); // The only one.
    CHECK(index.announcement_of_checks("u") == announcement::nothing);        // There are three.
    CHECK(index.announcement_of_checks("v") == announcement::nothing);
    CHECK(index.sends_header("u"));
    CHECK(index.sends_header("w"));
    CHECK_FALSE(index.sends_header("v"));
    CHECK_FALSE(index.sends_header("x"));
}

TEST_CASE("a frontend in plaintext has no certificates of its own to load")
{
    checked_settings const made = checked(
        {"sni = a.test pem-file = second"}, "frontend = { port = 2 pem-file = third }",
        "client = on pem-file = first");
    CHECK_FALSE(made.problems.empty());
    std::vector<own_certificates> const own = own_certificates_of(made.settings);
    REQUIRE(own.size() == 1);
    CHECK(*own[0].files->front().cert == "third");
}

TEST_CASE("the files of routes are among all files")
{
    config const c = accepted(
        {"sni = a.test client-verify = required client-verify-ca = ca client-verify-crl = crl "
         "client-allow-file = rules"});
    REQUIRE(client_crls_of(c).size() == 1);
    CHECK(**client_crls_of(c)[0].path == "crl");
    REQUIRE(client_allow_files_of(c).size() == 1);
    CHECK(**client_allow_files_of(c)[0].path == "rules");
}

} // namespace
} // namespace cleat::app::route_settings_test
