#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/capabilities.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cleat::tls::context_test {
namespace {

using strings = std::vector<std::string>;

constexpr int alert_unrecognized_name = 112;
constexpr int alert_no_application_protocol = 120;

context_spec client_spec(std::string name = {})
{
    context_spec spec;
    spec.role = role::client;
    spec.server_name = std::move(name);
    return spec;
}

context_spec server_spec(std::vector<certificate_source> certificates)
{
    context_spec spec;
    spec.certificates = std::move(certificates);
    return spec;
}

std::string refusal_of(context_spec const& spec)
{
    try {
        context const never{spec};
    } catch (spec_error const& refused) {
        return refused.what();
    }
    return {};
}

error error_on(test_connection const& failed)
{
    return backend::error_of(failed.failure.code);
}

certificate_source named(
    std::string const& common_name, strings names, key_type type = key_type::ecdsa_p256)
{
    return make_identity({.type = type, .names = std::move(names), .common_name = common_name})
        .source(common_name + ".pem");
}

// The common name of the certificate that a client with this SNI gets, or "refused".
std::string answer_to(context const& server, std::string const& name)
{
    context const client{client_spec(name)};
    test_connection connection{server, client};
    return connection.handshake() ? connection.server_identity() : "refused";
}

TEST_CASE("SNI chooses: the exact name, then the wildcard, then the last certificate")
{
    context const server{server_spec(
        {named("exact", {"www.a.test"}), named("wildcard", {"*.a.test"}),
         named("last", {"b.test"})})};
    CHECK(server.warnings() == strings{});
    CHECK(answer_to(server, "www.a.test") == "exact");
    CHECK(answer_to(server, "WWW.A.Test") == "exact");
    CHECK(answer_to(server, "other.a.test") == "wildcard");
    CHECK(answer_to(server, "b.test") == "last");
    CHECK(answer_to(server, "two.labels.a.test") == "last");
    CHECK(answer_to(server, "unknown.test") == "last");
    CHECK(answer_to(server, "") == "last");
}

TEST_CASE("a name that two certificates of a kind answer to goes to the later one, with a warning")
{
    context const server{server_spec(
        {named("first", {"a.test"}), named("second", {"a.test"}), named("last", {"b.test"})})};
    REQUIRE(server.warnings().size() == 1);
    CHECK(contains(server.warnings().front(), "first.pem and second.pem both answer to a.test"));
    CHECK(answer_to(server, "a.test") == "second");
}

TEST_CASE("a client gets ECDSA where it can use it, and RSA where it cannot")
{
    certificate_source const rsa = named("rsa", {"a.test"}, key_type::rsa);
    certificate_source const ecdsa = named("ecdsa", {"a.test"});
    certificate_source const other = named("other", {"b.test"});
    std::vector<std::vector<certificate_source>> const orders{
        {rsa, ecdsa}, {ecdsa, rsa}, {rsa, ecdsa, other}};
    for (std::vector<certificate_source> const& order : orders) {
        context const server{server_spec(order)};
        CHECK(server.warnings() == strings{});
        context const client{client_spec("a.test")};
        for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
            test_connection able{server, client};
            SSL_set_max_proto_version(able.client.get(), static_cast<std::uint16_t>(version));
            CHECK(able.handshake());
            CHECK(able.server_identity() == "ecdsa");

            test_connection unable{server, client};
            SSL_set_max_proto_version(unable.client.get(), static_cast<std::uint16_t>(version));
            REQUIRE(SSL_set1_sigalgs_list(unable.client.get(), "RSA-PSS+SHA256:RSA+SHA256") == 1);
            CHECK(unable.handshake());
            CHECK(unable.server_identity() == "rsa");
        }
        test_connection by_suite{server, client};
        SSL_set_max_proto_version(by_suite.client.get(), TLS1_2_VERSION);
        SSL_set_cipher_list(by_suite.client.get(), "ECDHE-RSA-AES128-GCM-SHA256");
        CHECK(by_suite.handshake());
        CHECK(by_suite.server_identity() == "rsa");
    }
}

TEST_CASE("an Ed25519 certificate beside others takes nothing from clients that cannot use it")
{
    certificate_source const rsa = named("rsa", {"a.test"}, key_type::rsa);
    certificate_source const ecdsa = named("ecdsa", {"a.test"});
    certificate_source const edwards = named("ed25519", {"a.test"}, key_type::ed25519);
    std::vector<std::vector<certificate_source>> const orders{
        {ecdsa, edwards}, {edwards, ecdsa}, {rsa, ecdsa, edwards}, {edwards, rsa, ecdsa}};
    for (std::vector<certificate_source> const& order : orders) {
        context const server{server_spec(order)};
        CHECK(server.warnings() == strings{});
        for (char const* const name : {"a.test", ""}) { // The default is a set of them, too.
            context const client{client_spec(name)};
            for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
                auto const shown_to = [&](char const* algorithms) {
                    test_connection connection{server, client};
                    SSL_set_max_proto_version(
                        connection.client.get(), static_cast<std::uint16_t>(version));
                    REQUIRE(SSL_set1_sigalgs_list(connection.client.get(), algorithms) == 1);
                    return connection.handshake() ? connection.server_identity() : "refused";
                };
                CHECK(shown_to("ECDSA+SHA256:RSA-PSS+SHA256") == "ecdsa");
                CHECK(shown_to("ed25519:ECDSA+SHA256") == "ecdsa");
                CHECK(shown_to("ed25519") == "ed25519");
                CHECK(shown_to("RSA-PSS+SHA256") == (order.size() == 3 ? "rsa" : "refused"));
            }
        }
    }
}

TEST_CASE("an ML-DSA certificate beside others serves clients of TLS 1.3 that can verify it")
{
    if (make_ml_dsa_test_key(key_type::ml_dsa_65) == nullptr)
        return; // This TLS library has no such key.
    context const server{server_spec(
        {named("ml-dsa", {"a.test"}, key_type::ml_dsa_65), named("ecdsa", {"a.test"}),
         named("rsa", {"a.test"}, key_type::rsa)})};
    CHECK(server.warnings() == strings{});
    for (char const* const name : {"a.test", ""}) { // The default is a set of them, too.
        context const client{client_spec(name)};
        test_connection able{server, client};
        CHECK(able.handshake());
        CHECK(able.server_identity() == "ml-dsa");

        test_connection old{server, client};
        SSL_set_max_proto_version(old.client.get(), TLS1_2_VERSION);
        CHECK(old.handshake());
        CHECK(old.server_identity() == "ecdsa");

        test_connection unable{server, client};
        REQUIRE(SSL_set1_sigalgs_list(unable.client.get(), "ECDSA+SHA256:RSA-PSS+SHA256") == 1);
        CHECK(unable.handshake());
        CHECK(unable.server_identity() == "ecdsa");
    }
    context const only_ml_dsa{server_spec({named("ml-dsa", {"a.test"}, key_type::ml_dsa_65)})};
    context const client{client_spec("a.test")};
    test_connection refused{only_ml_dsa, client};
    SSL_set_max_proto_version(refused.client.get(), TLS1_2_VERSION);
    CHECK(!refused.handshake());
}

TEST_CASE("the curve counts: a P-384 key is not for a client that knows only P-256 signatures")
{
    context const server{server_spec(
        {named("rsa", {"a.test"}, key_type::rsa),
         named("p384", {"a.test"}, key_type::ecdsa_p384)})};
    context const client{client_spec("a.test")};
    test_connection narrow{server, client};
    SSL_set_min_proto_version(narrow.client.get(), TLS1_3_VERSION);
    REQUIRE(SSL_set1_sigalgs_list(narrow.client.get(), "ECDSA+SHA256:RSA-PSS+SHA256") == 1);
    CHECK(narrow.handshake());
    CHECK(narrow.server_identity() == "rsa");
    test_connection wide{server, client};
    CHECK(wide.handshake());
    CHECK(wide.server_identity() == "p384");
}

TEST_CASE("every kind of key serves")
{
    for (key_type const each : usable_key_types()) {
        context const server{server_spec({named("any", {"a.test"}, each)})};
        for (std::string const& warning : server.warnings())
            FAIL_CHECK(warning);
        if (each != key_type::ed25519) // Not every library's client accepts it by default.
            CHECK(answer_to(server, "a.test") == "any");
    }
}

TEST_CASE("strict SNI refuses an unknown name with its own alert, and serves a client without SNI")
{
    context_spec spec = server_spec({named("a", {"a.test"}), named("b", {"*.b.test"})});
    spec.refuse_unknown_names = true;
    context const server{spec};
    CHECK(answer_to(server, "a.test") == "a");
    CHECK(answer_to(server, "x.b.test") == "b");
    CHECK(answer_to(server, "") == "b");

    context const client{client_spec("c.test")};
    test_connection refused{server, client};
    CHECK(!refused.handshake());
    CHECK(backend::refused_name(refused.server.get()));
    CHECK(refused.client_alert() == alert_unrecognized_name);

    context const good_client{client_spec("a.test")};
    test_connection good{server, good_client};
    CHECK(good.handshake());
    CHECK(!backend::refused_name(good.server.get()));
}

TEST_CASE("the chain of the file is sent whole and in order")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const middle =
        make_identity({.common_name = "middle", .issuer = &root, .authority = true});
    test_identity const leaf =
        make_identity({.names = {"a.test"}, .common_name = "leaf", .issuer = &middle});
    context const server{server_spec({leaf.source("leaf.pem", middle.certificate_pem)})};

    context_spec verifying = client_spec("a.test");
    verifying.verify = peer_verification::required;
    verifying.verify_authorities = root.certificate_pem;
    context const client{verifying};
    test_connection connection{server, client};
    CHECK(connection.handshake());

    context const bare{server_spec({leaf.source("leaf.pem")})};
    test_connection without{bare, client};
    CHECK(!without.handshake());
    CHECK(error_on(without) == error::bad_certificate);
}

TEST_CASE("a client that verifies refuses other names and other authorities")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &root});
    context const server{server_spec({leaf.source("leaf.pem")})};
    context_spec spec = client_spec("b.test");
    spec.verify = peer_verification::required;
    SUBCASE("name")
    {
        spec.verify_authorities = root.certificate_pem;
    }
    SUBCASE("address")
    {
        spec.verify_authorities = root.certificate_pem;
        spec.server_name = "127.0.0.1";
    }
    SUBCASE("authority")
    {
        spec.server_name = "a.test";
        spec.verify_authorities =
            make_identity({.common_name = "root", .authority = true}).certificate_pem;
    }
    SUBCASE("the system's authorities")
    {
        spec.server_name = "a.test";
    }
    context const client{spec};
    test_connection connection{server, client};
    CHECK(!connection.handshake());
    CHECK(error_on(connection) == error::bad_certificate);
}

TEST_CASE("ALPN: the server's order decides, a client without ALPN is served, no overlap is fatal")
{
    context_spec spec = server_spec({named("a", {"a.test"}), named("b", {"b.test"})});
    spec.alpn = {"h2", "http/1.1"};
    context const server{spec};

    context_spec offers =
        client_spec("a.test"); // Not the default: the list holds after the choice, too.
    offers.alpn = {"http/1.1", "h2"};
    context const both{offers};
    test_connection agreed{server, both};
    CHECK(agreed.handshake());
    CHECK(agreed.alpn() == "h2");

    CHECK(answer_to(server, "a.test") == "a");

    offers.alpn = {"imap"};
    context const other{offers};
    test_connection refused{server, other};
    CHECK(!refused.handshake());
    CHECK(error_on(refused) == error::alpn_mismatch);
    CHECK(refused.client_alert() == alert_no_application_protocol);
}

TEST_CASE("versions outside of the bounds are refused")
{
    context_spec spec = server_spec({named("a", {"a.test"})});
    spec.version_min = protocol_version::tls_1_3;
    context const only_1_3{spec};
    context const client{client_spec("a.test")};
    test_connection old{only_1_3, client};
    SSL_set_max_proto_version(old.client.get(), TLS1_2_VERSION);
    CHECK(!old.handshake());
    CHECK(error_on(old) == error::no_shared_version);

    spec.version_min = protocol_version::tls_1_2;
    spec.version_max = protocol_version::tls_1_2;
    context const only_1_2{spec};
    test_connection fallen_back{only_1_2, client};
    CHECK(fallen_back.handshake());
    CHECK(std::string_view{SSL_get_version(fallen_back.server.get())} == "TLSv1.2");
}

TEST_CASE("groups: those of the spec are used, and '?' skips those that the library lacks")
{
    context_spec spec = server_spec({named("a", {"a.test"})});
    spec.groups = "?NO-SUCH-GROUP:P-384:?X25519MLKEM768";
    context const server{spec};
    context const client{client_spec("a.test")};
    test_connection connection{server, client};
    SSL_set1_groups_list(connection.client.get(), "X25519:P-384");
    CHECK(connection.handshake());
    CHECK(backend::group_name(connection.server.get()) == "P-384");

    test_connection none{server, client};
    SSL_set1_groups_list(none.client.get(), "P-521");
    CHECK(!none.handshake());
    CHECK(error_on(none) == error::no_shared_group);

    spec.groups = "X25519:NO-SUCH-GROUP";
    CHECK(contains(refusal_of(spec), "NO-SUCH-GROUP"));
    CHECK(contains(refusal_of(spec), "P-256"));
    spec.groups = "?NO-SUCH-GROUP";
    CHECK(contains(refusal_of(spec), "X25519"));
    spec.groups = "prime256v1:secp384r1";
    CHECK(refusal_of(spec).empty());
    spec.groups = "secp256r1:x25519";
    CHECK(refusal_of(spec).empty());
}

TEST_CASE("the default groups agree on the post-quantum one where the library has it")
{
    context const server{server_spec({named("a", {"a.test"})})};
    context const client{client_spec("a.test")};
    test_connection connection{server, client};
    CHECK(connection.handshake());
    CHECK(
        backend::group_name(connection.server.get()) ==
        (library_capabilities().post_quantum_group ? "X25519MLKEM768" : "X25519"));
}

TEST_CASE("every mistake in a spec is found, each once, and none in a good one")
{
    test_identity const one = make_identity({.names = {"one.example"}});
    test_identity const two = make_identity({.names = {"two.example"}});
    context_spec spec;
    spec.certificates = {one.source("good.pem")};
    CHECK(find_mistakes(spec).empty());

    spec.certificates.push_back({one.certificate_pem, two.key_pem, "first.pem"});
    spec.certificates.push_back({two.certificate_pem, one.key_pem, "second.pem"});
    spec.groups = "NO-SUCH-GROUP";
    spec.ciphers = "NO-SUCH-CIPHER";
    spec.ciphersuites = "TLS_NONE";
    spec.verify = peer_verification::required;
    spec.verify_authorities = "nothing";
    spec.verify_origin = "ca.pem";
    std::vector<std::string> const found = find_mistakes(spec);
    CHECK(found.size() == 6);
    for (std::string const about :
         {"groups: ", "ciphers: ", "ciphersuites: ", "ca.pem: ", "first.pem: ", "second.pem: "})
        CHECK_MESSAGE(
            std::ranges::count_if(
                found, [&](std::string const& each) { return each.starts_with(about); }) == 1,
            about);

    spec.certificates.clear();
    CHECK(find_settings_mistakes(spec).size() == 4);

    // A mistake that every piece has is returned once.
    spec = {};
    spec.certificates = {one.source("good.pem")};
    spec.version_min = protocol_version::tls_1_3;
    spec.version_max = protocol_version::tls_1_2;
    CHECK(find_mistakes(spec).size() == 1);
    // So is a mistake that no piece has alone.
    spec = {};
    REQUIRE(find_mistakes(spec).size() == 1);
    CHECK(contains(find_mistakes(spec).front(), "needs a certificate"));
}

TEST_CASE("settings that the library or cleat cannot do are errors that name them")
{
    context_spec const good = server_spec({named("a", {"a.test"})});
    CHECK(refusal_of(good).empty());

    context_spec bad = good;
    bad.ciphers = "NO-SUCH-CIPHER";
    CHECK(contains(refusal_of(bad), "NO-SUCH-CIPHER"));
    CHECK(contains(refusal_of(bad), "ECDHE-RSA-AES128-GCM-SHA256"));
    bad = good;
    bad.ciphersuites = "TLS_AES_128_GCM_SHA256:TLS_NONE";
    CHECK(contains(refusal_of(bad), "\"TLS_NONE\""));
    CHECK(contains(refusal_of(bad), "TLS_CHACHA20_POLY1305_SHA256"));
    bad = good;
    bad.certificates.clear();
    CHECK(contains(refusal_of(bad), "needs a certificate"));
    bad = good;
    bad.alpn = {"h2", ""};
    CHECK(contains(refusal_of(bad), "ALPN"));
    bad = good;
    bad.alpn = {std::string(256, 'x')};
    CHECK(contains(refusal_of(bad), "256 bytes"));
    bad = good;
    bad.version_min = protocol_version::tls_1_3;
    bad.version_max = protocol_version::tls_1_2;
    CHECK(contains(refusal_of(bad), "above the highest"));
    bad = good;
    bad.version_min = protocol_version{0x0301};
    CHECK(contains(refusal_of(bad), "0x0301"));
    bad = good;
    bad.verify = peer_verification::required;
    CHECK(contains(refusal_of(bad), "authorities"));
    bad.verify_authorities = "not PEM";
    bad.verify_origin = "ca.pem";
    CHECK(contains(refusal_of(bad), "ca.pem: there is no certificate"));
    bad.verify_authorities.clear();
    CHECK(contains(refusal_of(bad), "ca.pem: there is no certificate"));
    bad.verify = peer_verification::none;
    CHECK(refusal_of(bad).empty());
    bad = client_spec();
    bad.verify = peer_verification::optional;
    CHECK(contains(refusal_of(bad), "required or none"));
}

TEST_CASE(
    "one unknown suite among known ones is a warning, and so is a certificate that no suite fits")
{
    context_spec spec = server_spec({named("a", {"a.test"})});
    std::string const good = spec.ciphers;
    for (char const* unknown :
         {"ECDHE-NONE-AES128-GCM-SHA256", "TYPO", "HIHG", "EECDHX+AESGCM", "!aNULLL", "+HIHG",
          "TLS_AES_128_GCM_SHA256"}) {
        CAPTURE(unknown);
        spec.ciphers = fmt::format("{}:{}:!MD5:@STRENGTH", good, unknown);
        context const odd{spec};
        REQUIRE(odd.warnings().size() == 1);
        CHECK(contains(odd.warnings().front(), unknown));
        CHECK(
            contains(odd.warnings().front(), "ciphersuites") ==
            std::string_view{unknown}.starts_with("TLS_"));
    }
    // Lists as administrators have used them for years.
    for (char const* usual :
         {"HIGH:!aNULL:!eNULL:!EXPORT:!DES:!RC4:!MD5:!PSK:!SRP:!CAMELLIA:!SEED:!IDEA:!3DES",
          "EECDH+AESGCM:ECDHE+CHACHA20:!DSS:!ADH:!AECDH:!kEDH+aDSS:!ECDHE-RSA-NULL-SHA",
          "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:-kRSA:+AES256:@STRENGTH"}) {
        CAPTURE(usual);
        spec.ciphers = usual;
        context const known{spec};
        CHECK(known.warnings().empty());
    }

    spec.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
    context const unfit{spec};
    REQUIRE(unfit.warnings().size() == 1);
    CHECK(contains(unfit.warnings().front(), "a.pem: no TLSv1.2 handshake is possible"));
}

TEST_CASE("certificates none of which makes a handshake possible are refused")
{
    context_spec spec = server_spec({named("a", {"a.test"}), named("b", {"b.test"})});
    spec.version_max = protocol_version::tls_1_2;
    CHECK(refusal_of(spec).empty());
    spec.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
    CHECK(contains(refusal_of(spec), "b.pem: no client can be served"));
    CHECK(contains(refusal_of(spec), "ECDSA P-256 key"));
    CHECK(contains(refusal_of(spec), "ECDHE-ECDSA-AES128-GCM-SHA256"));
    CHECK(find_mistakes(spec) == std::vector{refusal_of(spec)});

    // Beside one that can be used each of them is left alone.
    test_identity const rsa = make_identity({.type = key_type::rsa, .names = {"b.test"}});
    spec.certificates.push_back(rsa.source("rsa.pem"));
    context const beside{spec};
    REQUIRE(beside.warnings().size() == 1);
    CHECK(contains(beside.warnings().front(), "a.pem: no TLSv1.2 handshake is possible"));
}

TEST_CASE("a certificate can verify its clients by a rule of its own")
{
    test_identity const root = make_identity({.common_name = "people", .authority = true});
    test_identity const person = make_identity({.common_name = "person", .issuer = &root});
    context_spec spec = server_spec({named("a", {"a.test"}), named("b", {"b.test"})});
    spec.certificates.front().clients =
        client_rule{peer_verification::required, root.certificate_pem, "people.pem"};
    context const server{spec};

    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        auto const result = [&](std::string const& name, bool certified) {
            context_spec client = client_spec(name);
            if (certified)
                client.certificates = {person.source("person.pem")};
            context const made{client};
            test_connection connection{server, made};
            SSL_set_max_proto_version(connection.client.get(), static_cast<std::uint16_t>(version));
            if (!connection.handshake())
                return std::string{name_of(error_on(connection))};
            return backend::has_peer_certificate(connection.server.get())
                       ? backend::peer_common_name(connection.server.get())
                       : std::string{"anonymous"};
        };
        CHECK(result("b.test", false) == "anonymous");
        CHECK(result("b.test", true) == "anonymous"); // It is not asked.
        CHECK(result("a.test", true) == "person");
        CHECK(result("a.test", false) == "no-client-certificate");
    }
    // Both ways: the default may be the one that asks.
    std::swap(spec.certificates.front(), spec.certificates.back());
    CHECK(find_mistakes(spec).empty());
    spec.certificates.front().clients = spec.certificates.back().clients;
    spec.certificates.front().clients->authorities = "none";
    CHECK(find_mistakes(spec).size() == 1);
}

TEST_CASE("certificates with a name in common have one rule for clients")
{
    test_identity const root = make_identity({.common_name = "people", .authority = true});
    context_spec spec =
        server_spec({named("a", {"a.test", "both.test"}), named("b", {"b.test", "both.test"})});
    client_rule const rule{peer_verification::required, root.certificate_pem, "people.pem"};
    spec.certificates.front().clients = rule;
    CHECK_THROWS_AS(context{spec}, spec_error);
    spec.certificates.back().clients = rule;
    static_cast<void>(context{spec});
}

TEST_CASE("client certificates: none, optional and required")
{
    test_identity const root = make_identity({.common_name = "people", .authority = true});
    test_identity const person = make_identity({.common_name = "person", .issuer = &root});
    test_identity const stranger = make_identity({.common_name = "stranger"});
    context_spec spec = server_spec({named("a", {"a.test"}), named("b", {"b.test"})});
    spec.verify_authorities = root.certificate_pem;

    context_spec certified = client_spec("a.test");
    context const anonymous{certified};
    certified.certificates = {person.source("person.pem")};
    context const known{certified};
    certified.certificates = {stranger.source("stranger.pem")};
    context const unknown{certified};

    for (int const version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        auto const result = [&](context const& server, context const& client) {
            test_connection connection{server, client};
            SSL_set_max_proto_version(connection.client.get(), static_cast<std::uint16_t>(version));
            if (!connection.handshake())
                return std::string{name_of(error_on(connection))};
            return backend::has_peer_certificate(connection.server.get())
                       ? backend::peer_common_name(connection.server.get())
                       : std::string{"anonymous"};
        };
        spec.verify = peer_verification::none;
        context const none{spec};
        CHECK(result(none, known) == "anonymous");
        spec.verify = peer_verification::optional;
        context const optional{spec};
        CHECK(result(optional, anonymous) == "anonymous");
        CHECK(result(optional, known) == "person");
        CHECK(result(optional, unknown) == "bad-certificate");
        spec.verify = peer_verification::required;
        context const required{spec};
        CHECK(result(required, anonymous) == "no-client-certificate");
        CHECK(result(required, known) == "person");
        CHECK(result(required, unknown) == "bad-certificate");
    }
}

} // namespace
} // namespace cleat::tls::context_test
