#include "client_rules/allow_rule.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::app::allow_rule_test {
namespace {

using written = std::pair<certificate_part, std::string_view>;

allow_rule rule(std::initializer_list<written> conditions, std::string origin = "c:1")
{
    allow_rule made{.origin = std::move(origin)};
    for (auto const& [part, text] : conditions) {
        std::variant<allow_condition, condition_fault> read = read_condition(part, text);
        REQUIRE(std::holds_alternative<allow_condition>(read));
        made.conditions.push_back(std::get<allow_condition>(std::move(read)));
    }
    return made;
}

bool fits(certificate_part part, std::string_view text, tls::client_certificate const& shown)
{
    return allow_rules{{rule({{part, text}})}}.find(shown) != nullptr;
}

std::string mistake(certificate_part part, std::string_view text)
{
    std::variant<allow_condition, condition_fault> const read = read_condition(part, text);
    condition_fault const* const found = std::get_if<condition_fault>(&read);
    return found == nullptr ? "" : found->text + ". " + found->cure;
}

using enum certificate_part;

} // namespace

TEST_CASE("a DNS name is the same in any case, and a wildcard stands for one label")
{
    tls::client_certificate const shown{.dns_names = {"Web.Example.org"}};
    CHECK(fits(dns_name, "web.example.ORG", shown));
    CHECK(fits(dns_name, "*.example.org", shown));
    CHECK_FALSE(fits(dns_name, "*.org", shown));
    CHECK_FALSE(fits(dns_name, "example.org", shown));
    CHECK_FALSE(fits(dns_name, "*.web.example.org", shown));
    CHECK_FALSE(fits(dns_name, "*.example.org", {.dns_names = {".example.org"}}));
    // A name of the subject is no name of the SAN.
    CHECK_FALSE(fits(dns_name, "alice", {.common_name = "alice"}));
}

TEST_CASE("a name with a zero byte is not the name before it")
{
    std::string const forged{"web.example.org\0.evil.test", 26};
    CHECK_FALSE(fits(dns_name, "web.example.org", {.dns_names = {forged}}));
    CHECK_FALSE(fits(common_name, "web.example.org", {.common_name = forged}));
    CHECK_FALSE(fits(uri, "web:x", {.uris = {std::string{"web:x\0y", 7}}}));
}

TEST_CASE("a URI is compared byte for byte, and a pattern has all that is under it")
{
    auto const has = [](std::string text) {
        return tls::client_certificate{.uris = {std::move(text)}};
    };
    CHECK(fits(uri, "spiffe://example.org/web", has("spiffe://example.org/web")));
    CHECK(fits(uri, "spiffe://example.org/*", has("spiffe://example.org/ns/web")));
    CHECK(fits(uri, "spiffe://example.org/ns/*", has("spiffe://example.org/ns/web")));
    CHECK_FALSE(fits(uri, "spiffe://example.org/ns/*", has("spiffe://example.org/ns")));
    CHECK_FALSE(fits(uri, "spiffe://example.org/ns/*", has("spiffe://example.org/nsx/web")));
    CHECK_FALSE(fits(uri, "spiffe://example.org/*", has("spiffe://example.org.evil.test/web")));
    CHECK_FALSE(fits(uri, "spiffe://example.org/*", has("https://example.org/web")));
    CHECK(fits(uri, "https://example.org/*", has("https://example.org/web?x=1")));
}

TEST_CASE("a SPIFFE rule is met by an X.509-SVID only")
{
    constexpr std::string_view all = "spiffe://example.org/web/*";
    CHECK(fits(uri, all, {.uris = {"spiffe://example.org/web/1"}}));
    CHECK_FALSE(
        fits(uri, all, {.uris = {"spiffe://example.org/web/1", "spiffe://example.org/web/2"}}));
    CHECK_FALSE(fits(uri, all, {.uris = {"spiffe://example.org/web/1"}, .is_authority = true}));
    for (char const* each :
         {"spiffe://example.org/web/../admin", "spiffe://example.org/web/./1",
          "spiffe://example.org/web//1", "spiffe://example.org/web/",
          "spiffe://example.org/web/%2e", "spiffe://example.org/web/1?x",
          "spiffe://example.org/web/1#x"})
        CHECK_FALSE(fits(uri, all, {.uris = {each}}));
    CHECK_FALSE(fits(uri, "spiffe://example.org/*", {.uris = {"spiffe://Example.org/web"}}));
}

TEST_CASE("an e-mail address has a domain in any case, and a local part in its own")
{
    tls::client_certificate const shown{.emails = {"Alice@Example.org"}};
    CHECK(fits(email, "Alice@example.org", shown));
    CHECK_FALSE(fits(email, "alice@example.org", shown));
    CHECK(fits(email, "@example.org", shown));
    CHECK(fits(email, "*@EXAMPLE.org", shown));
    CHECK_FALSE(fits(email, "@ample.org", shown));
    CHECK_FALSE(fits(email, "@example.org", {.emails = {"@example.org"}}));
}

TEST_CASE("an address is in a network")
{
    ip_prefix const network{.network = {.bytes = {192, 0, 2, 128}}, .length = 25};
    allow_rules const rules{{{"c:1", {address_condition(network, "192.0.2.128/25")}}}};
    CHECK(rules.find({.addresses = {std::string{"\xc0\x00\x02\x81", 4}}}) != nullptr);
    CHECK(rules.find({.addresses = {std::string{"\xc0\x00\x02\x7f", 4}}}) == nullptr);
    CHECK(rules.find({.addresses = {std::string{"\xc0\x00\x02", 3}}}) == nullptr);
    CHECK(rules.find({.addresses = {std::string(16, '\xc0')}}) == nullptr);
    CHECK(
        rules.explain({.addresses = {std::string{"\xc0\x00\x02\x7f", 4}}}) ==
        "the rule at c:1 asks for ip 192.0.2.128/25; the certificate has 192.0.2.127");
}

TEST_CASE("a public key is known by its hash in hexadecimal digits or base64")
{
    tls::client_certificate shown;
    shown.spki_sha256.fill(0xab);
    std::string hex;
    for (int i = 0; i < 32; ++i)
        hex += i % 2 == 0 ? "ab" : "AB";
    CHECK(fits(public_key, hex, shown));
    CHECK(fits(public_key, "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", shown));
    CHECK(fits(public_key, "sha256/q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=", shown));
    CHECK_FALSE(fits(public_key, std::string(64, '0'), shown));
    CHECK(mistake(public_key, "abab").starts_with("\"abab\" is no SHA-256. Write 64"));
    CHECK_FALSE(mistake(public_key, hex + "a").empty());
    CHECK_FALSE(mistake(public_key, "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6!=").empty());
}

TEST_CASE("a purpose has a name or an OID")
{
    tls::client_certificate const shown{.purposes = {"1.3.6.1.5.5.7.3.1", "1.2.3"}};
    CHECK(fits(purpose, "serverAuth", shown));
    CHECK(fits(purpose, "1.2.3", shown));
    CHECK_FALSE(fits(purpose, "clientAuth", shown));
    CHECK(
        allow_rules{{rule({{purpose, "clientAuth"}})}}.explain(shown) ==
        "the rule at c:1 asks for eku clientAuth; the certificate has serverAuth, 1.2.3");
    CHECK(mistake(purpose, "client").starts_with("\"client\" is no purpose of a key"));
}

TEST_CASE("a rule asks for each of its parts, and for one value of each")
{
    allow_rules const rules{
        {rule({{common_name, "alice"}, {common_name, "bob"}, {issuer, "CN=ca"}}, "c:1"),
         rule({{uri, "spiffe://example.org/*"}}, "c:2")}};
    CHECK(rules.find({.common_name = "bob", .issuer = "CN=ca"})->origin == "c:1");
    CHECK(rules.find({.issuer = "CN=x", .uris = {"spiffe://example.org/a"}})->origin == "c:2");
    CHECK(rules.find({.common_name = "bob", .issuer = "CN=other"}) == nullptr);
    CHECK(rules.find({.common_name = "eve", .issuer = "CN=ca"}) == nullptr);
}

TEST_CASE("the refusal names the nearest rule, and what the certificate has")
{
    allow_rules const rules{
        {rule({{common_name, "alice"}, {dns_name, "a.test"}, {issuer, "CN=x"}}, "c:1"),
         rule({{common_name, "alice"}, {common_name, "bob"}, {issuer, "CN=ca"}}, "c:7")}};
    CHECK(
        rules.explain({.common_name = "eve", .issuer = "CN=ca"}) ==
        "the nearest rule at c:7 asks for cn alice or bob; the certificate has eve");
    CHECK(
        rules.explain({.issuer = "CN=ca"}) ==
        "the nearest rule at c:7 asks for cn alice or bob; the certificate has no cn");
    CHECK(allow_rules{{}}.explain({}) == "there is no rule that it could meet");
    tls::client_certificate const two{.uris = {"spiffe://a/1", "spiffe://a/2"}};
    CHECK(
        allow_rules{{rule({{uri, "spiffe://a/*"}})}}.explain(two) ==
        "the rule at c:1 asks for uri spiffe://a/*; the certificate has spiffe://a/1, "
        "spiffe://a/2; a SPIFFE certificate has one");
}

TEST_CASE("a certificate with many or unprintable names does not fill the log")
{
    tls::client_certificate shown{.uris = std::vector<std::string>(1000, "urn:x\ny")};
    std::string const said = allow_rules{{rule({{uri, "urn:z"}})}}.explain(shown);
    CHECK(said.size() < 400);
    CHECK(said.find('\n') == std::string::npos);
    CHECK(said.find("urn:x?y, ") != std::string::npos);
    CHECK(said.ends_with("..."));
}

TEST_CASE("texts that are no conditions are mistakes")
{
    CHECK(mistake(dns_name, "*").starts_with("\"*\" is no name"));
    CHECK_FALSE(mistake(dns_name, "a.*.test").empty());
    CHECK(mistake(uri, "spiffe://*").starts_with("\"spiffe://*\" is no URI"));
    CHECK_FALSE(mistake(uri, "spiffe:///web").empty());
    CHECK_FALSE(mistake(uri, "web").empty());
    CHECK_FALSE(mistake(uri, "spiffe://a/*/b").empty());
    CHECK(mistake(email, "alice").starts_with("\"alice\" is no e-mail address"));
    CHECK_FALSE(mistake(email, "alice@").empty());
    CHECK_FALSE(mistake(common_name, "").empty()); // Certificates without a CN would meet it.
    CHECK_FALSE(mistake(issuer, "").empty());
    CHECK(mistake(common_name, "anything *").empty());
}

} // namespace cleat::app::allow_rule_test
