// handshake_info::signature_scheme of both sides: with every kind of key, in both versions, with
// every delivery, and empty where the server signed nothing.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::tls::signature_scheme_test {
namespace {

struct pair_of_contexts
{
    context server;
    context client;
};

pair_of_contexts make_contexts(
    protocol_version version, test_identity const& identity, std::string const& groups = "P-256",
    std::string const& ciphers = "")
{
    context_spec server;
    server.version_min = server.version_max = version;
    server.groups = groups;
    if (!ciphers.empty())
        server.ciphers = ciphers;
    server.certificates.push_back(identity.source("test"));
    server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});

    context_spec client = server;
    client.role = role::client;
    client.certificates.clear();
    client.tickets = nullptr;
    client.keep_sessions = true;
    client.groups = "X25519:" + groups;
    return {context{server}, context{client}};
}

// The server's and the client's signature_scheme.
using scheme_pair = std::pair<std::string_view, std::string_view>;

scheme_pair schemes_of(engine_pair const& d)
{
    return {d.server.engine.info().signature_scheme, d.client.engine.info().signature_scheme};
}

scheme_pair same(std::string_view scheme)
{
    return {scheme, scheme};
}

} // namespace

TEST_CASE("both sides report the scheme that the server signed with, for each kind of key")
{
    struct row
    {
        key_type key;
        std::string groups; // In TLS 1.2 the group of a certificate counts too.
        std::string_view scheme;
    };
    std::array<row, 3> const rows{{
        {key_type::ecdsa_p256, "P-256", "ecdsa_secp256r1_sha256"},
        {key_type::ecdsa_p384, "P-384", "ecdsa_secp384r1_sha384"},
        {key_type::rsa, "P-256", "rsa_pss_rsae_sha256"},
    }};
    for (row const& each : rows)
        for (protocol_version const version : both_versions) {
            test_identity const identity = make_identity({.type = each.key});
            pair_of_contexts const contexts = make_contexts(version, identity, each.groups);
            // The client's key share is for another group: the server sends a HelloRetryRequest.
            engine_pair d{contexts.server, contexts.client};
            CHECK(schemes_of(d) == same(""));
            REQUIRE(d.established());
            scheme_pair const schemes = schemes_of(d);
            CHECK(schemes.first == schemes.second);
            // In TLS 1.2 a scheme has any curve, and the library chooses the digest for P-384.
            if (version == protocol_version::tls_1_3 || each.key != key_type::ecdsa_p384)
                CHECK(std::string{schemes.first} == each.scheme);
            else
                CHECK(std::string{schemes.first}.starts_with("ecdsa_"));
        }
}

TEST_CASE("a scheme is reported with every delivery, and by a moved engine")
{
    test_identity const identity = make_identity({});
    for (protocol_version const version : both_versions)
        for (std::size_t const room : {std::size_t{64}, std::size_t{256 * 1024}}) {
            pair_of_contexts const contexts = make_contexts(version, identity);
            delivery const by_byte{.chunk = 1, .room = room};
            engine_pair d{contexts.server, contexts.client, by_byte, by_byte};
            REQUIRE(d.established());
            engine const moved{std::move(d.server.engine)};
            CHECK(moved.info().signature_scheme == "ecdsa_secp256r1_sha256");
        }
}

TEST_CASE("a resumed handshake has no scheme, also during a full one")
{
    test_identity const identity = make_identity({});
    for (protocol_version const version : both_versions) {
        pair_of_contexts const contexts = make_contexts(version, identity);
        engine_pair first{contexts.server, contexts.client};
        REQUIRE(first.established());
        // TLS 1.3's tickets come before the answer.
        std::vector<std::byte> text;
        write_all(first.server, first.client, pattern(10));
        read_all(first.client, first.server, text);
        std::vector<session> const sessions = first.client.engine.take_sessions();
        REQUIRE(!sessions.empty());

        engine_pair resumed{contexts.server, contexts.client};
        resumed.client.engine.resume(sessions.back());
        engine_pair full{contexts.server, contexts.client};
        REQUIRE(full.established());
        REQUIRE(resumed.established());
        REQUIRE(resumed.server.engine.info().resumed);
        CHECK(schemes_of(resumed) == same(""));
        CHECK(schemes_of(full) == same("ecdsa_secp256r1_sha256"));
    }
}

TEST_CASE("RSA key exchange has no scheme")
{
    test_identity const identity = make_identity({.type = key_type::rsa});
    pair_of_contexts const contexts =
        make_contexts(protocol_version::tls_1_2, identity, "P-256", "AES128-GCM-SHA256");
    engine_pair d{contexts.server, contexts.client};
    REQUIRE(d.established());
    CHECK(schemes_of(d) == same(""));
}

TEST_CASE("a client's own certificate is not taken for the server's")
{
    test_identity const authority = make_identity({.common_name = "people", .authority = true});
    test_identity const person = make_identity({.issuer = &authority});
    test_identity const identity = make_identity({.type = key_type::rsa});
    for (protocol_version const version : both_versions) {
        context_spec server;
        server.version_min = server.version_max = version;
        server.certificates.push_back(identity.source("test"));
        server.verify = peer_verification::required;
        server.verify_authorities = authority.certificate_pem;
        context_spec client;
        client.role = role::client;
        client.certificates.push_back(person.source("person"));
        context const server_context{server};
        context const client_context{client};
        engine_pair d{server_context, client_context};
        REQUIRE(d.established());
        REQUIRE(d.server.engine.info().peer_certificate);
        CHECK(schemes_of(d) == same("rsa_pss_rsae_sha256"));
    }
}

} // namespace cleat::tls::signature_scheme_test
