#include "inspect/explanation.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::explanation_test {
namespace {

using reason = tls::certificate_choice::selection::reason;
using strings = std::vector<std::string>;

/// Three certificates, of which the last is the default, and one frontend.
struct explanation_fixture
{
    explanation_fixture()
    {
        add("exact.pem", tls::key_type::ecdsa_p256, {"www.site.example"});
        add("exact-rsa.pem", tls::key_type::rsa, {"www.site.example"});
        add("wide.pem", tls::key_type::ed25519, {"*.site.example"});
        add("default.pem", tls::key_type::ecdsa_p384, {"default.example"});
        settings.certificate_cache.value = 0; // Always a catalog.
        settings.frontends.resize(1);
        settings.frontends.front().host.value = "127.0.0.1";
    }

    void add(std::string const& file, tls::key_type type, strings names)
    {
        tls::test_identity const made = tls::make_identity({.type = type, .names = names});
        folder.write(file, made.certificate_pem + made.key_pem);
        pem_file pem;
        pem.cert.value = folder.path() / file;
        settings.pem_files.push_back(pem);
    }

    frontend_explanation explained(std::string_view name, strings const& alpn = {})
    {
        loading const loaded = load(settings);
        REQUIRE_FALSE(has_errors(loaded.problems));
        return explain_frontend(loaded.made, loaded.made.frontends.front(), name, alpn);
    }

    void add_route(std::string const& name, std::string const& protocol, std::string const& to)
    {
        upstream_config upstream;
        upstream.name.value = to;
        upstream.servers.resize(1);
        settings.upstreams.push_back(upstream);
        route_config route;
        route.sni.push_back({{server_name_pattern::kind::exact, name}, {}});
        if (!protocol.empty())
            route.alpn.value = {protocol};
        route.upstream.value = to;
        settings.frontends.front().routes.push_back(route);
    }

    // The files' names, in the order of preference.
    strings files(std::string_view name)
    {
        strings found;
        for (explained_certificate const& each : explained(name).certificates)
            found.push_back(each.files.substr(each.files.rfind('/') + 1));
        return found;
    }

    temporary_folder folder;
    config settings;
};

} // namespace

TEST_CASE_FIXTURE(explanation_fixture, "an exact name has its certificates, ECDSA first")
{
    CHECK(files("www.site.example") == strings{"exact.pem", "exact-rsa.pem"});
    frontend_explanation const found = explained("WWW.site.example.");
    CHECK(found.why == reason::exact_name);
    CHECK(found.certificates.front().key == "ECDSA P-256");
    CHECK(found.refusal == explained_refusal::none);
    CHECK(found.versions == strings{"TLS 1.3", "TLS 1.2"});
    CHECK(found.has_tickets);
}

TEST_CASE_FIXTURE(explanation_fixture, "then comes a wildcard, then the default")
{
    CHECK(files("api.site.example") == strings{"wide.pem"});
    CHECK(explained("api.site.example").why == reason::wildcard);
    CHECK(files("elsewhere.example") == strings{"default.pem"});
    CHECK(explained("elsewhere.example").why == reason::unknown_name);
    CHECK(files("") == strings{"default.pem"});
    CHECK(explained("").why == reason::no_name);
}

TEST_CASE_FIXTURE(explanation_fixture, "sni-nomatch-abort refuses unknown names, but not none")
{
    settings.sni_nomatch_abort.value = true;
    frontend_explanation const found = explained("elsewhere.example", {"h2"});
    CHECK(found.why == reason::refused_name);
    CHECK(found.refusal == explained_refusal::unrecognized_name);
    CHECK(found.certificates.empty());
    CHECK(explained("").refusal == explained_refusal::none);
    CHECK(explained("www.site.example").refusal == explained_refusal::none);
}

TEST_CASE_FIXTURE(explanation_fixture, "ALPN is the frontend's first that the client offers")
{
    CHECK_FALSE(explained("a.example", {"h2"}).protocol); // Not set: ignored.
    settings.alpn_protos.value = {"h2", "http/1.1"};
    CHECK(explained("a.example", {"http/1.1", "h2"}).protocol == "h2");
    CHECK_FALSE(explained("a.example").protocol);
    CHECK(explained("a.example").refusal == explained_refusal::none);
    frontend_explanation const refused = explained("a.example", {"imap"});
    CHECK(refused.refusal == explained_refusal::no_application_protocol);
    CHECK_FALSE(refused.protocol);
}

TEST_CASE("an address is no SNI")
{
    CHECK(sni_of("192.0.2.1").empty());
    CHECK(sni_of("2001:db8::1").empty());
    CHECK(sni_of("site.example") == "site.example");
}

TEST_CASE_FIXTURE(explanation_fixture, "the first route that takes the client gives the upstream")
{
    CHECK_FALSE(explained("www.site.example").has_routes);
    settings.alpn_protos.value = {"h2"};
    add_route("www.site.example", "h2", "first");
    add_route("www.site.example", "", "second");
    frontend_explanation const with_protocol = explained("www.site.example", {"h2"});
    REQUIRE(with_protocol.route.has_value());
    CHECK(with_protocol.route->text == "sni www.site.example, alpn h2");
    CHECK(with_protocol.upstream == with_protocol.route->upstream);
    CHECK(explained("www.site.example").route->text == "sni www.site.example");
    CHECK_FALSE(explained("other.example").route.has_value());
    CHECK(explained("other.example").has_routes);
    // A client that is refused goes nowhere.
    CHECK_FALSE(explained("www.site.example", {"h3"}).route.has_value());
}

} // namespace cleat::app::explanation_test
