// The scheme that a server has signed its handshake with, as both sides tell it: of every kind of
// key, in both versions, however its messages come, and none where nothing was signed.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::tls {
namespace {

constexpr std::array versions{protocol_version::tls_1_2, protocol_version::tls_1_3};

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

// What the server tells and then what the client tells, after a handshake.
using told = std::pair<std::string_view, std::string_view>;

told schemes_of(duet const& d)
{
    return {d.server.engine.info().signature_scheme, d.client.engine.info().signature_scheme};
}

told both(std::string_view scheme)
{
    return {scheme, scheme};
}

} // namespace

TEST_CASE("both sides tell the scheme that the server signed with, of each kind of key")
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
        for (protocol_version const version : versions) {
            test_identity const identity = make_identity({.type = each.key});
            pair_of_contexts const with = make_contexts(version, identity, each.groups);
            // The client offers a key of another group first: a HelloRetryRequest goes before.
            duet d{with.server, with.client};
            CHECK(schemes_of(d) == both(""));
            REQUIRE(d.established());
            told const schemes = schemes_of(d);
            CHECK(schemes.first == schemes.second);
            // TLS 1.2 binds a scheme to no curve: which digest goes with P-384 is the library's
            // choice.
            if (version == protocol_version::tls_1_3 || each.key != key_type::ecdsa_p384)
                CHECK(std::string{schemes.first} == each.scheme);
            else
                CHECK(std::string{schemes.first}.starts_with("ecdsa_"));
        }
}

TEST_CASE("a scheme is told however the handshake is delivered, and by a moved engine")
{
    test_identity const identity = make_identity({});
    for (protocol_version const version : versions)
        for (std::size_t const room : {std::size_t{64}, std::size_t{256 * 1024}}) {
            pair_of_contexts const with = make_contexts(version, identity);
            delivery const by_byte{.chunk = 1, .room = room};
            duet d{with.server, with.client, by_byte, by_byte};
            REQUIRE(d.established());
            engine const moved{std::move(d.server.engine)};
            CHECK(moved.info().signature_scheme == "ecdsa_secp256r1_sha256");
        }
}

TEST_CASE("a resumed handshake has no scheme, also beside ones that were signed")
{
    test_identity const identity = make_identity({});
    for (protocol_version const version : versions) {
        pair_of_contexts const with = make_contexts(version, identity);
        duet first{with.server, with.client};
        REQUIRE(first.established());
        // An answer takes TLS 1.3's tickets along.
        std::vector<std::byte> got;
        write_all(first.server, first.client, pattern(10));
        read_all(first.client, first.server, got);
        std::vector<session> const sessions = first.client.engine.take_sessions();
        REQUIRE(!sessions.empty());

        duet resumed{with.server, with.client};
        resumed.client.engine.resume(sessions.back());
        duet full{with.server, with.client};
        REQUIRE(full.established());
        REQUIRE(resumed.established());
        REQUIRE(resumed.server.engine.info().resumed);
        CHECK(schemes_of(resumed) == both(""));
        CHECK(schemes_of(full) == both("ecdsa_secp256r1_sha256"));
    }
}

TEST_CASE("RSA key exchange signs nothing, and no scheme is told")
{
    test_identity const identity = make_identity({.type = key_type::rsa});
    pair_of_contexts const with =
        make_contexts(protocol_version::tls_1_2, identity, "P-256", "AES128-GCM-SHA256");
    duet d{with.server, with.client};
    REQUIRE(d.established());
    CHECK(schemes_of(d) == both(""));
}

TEST_CASE("a client's own certificate is not taken for the server's")
{
    test_identity const authority = make_identity({.common_name = "people", .authority = true});
    test_identity const person = make_identity({.issuer = &authority});
    test_identity const identity = make_identity({.type = key_type::rsa});
    for (protocol_version const version : versions) {
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
        duet d{server_context, client_context};
        REQUIRE(d.established());
        REQUIRE(d.server.engine.info().peer_certificate);
        CHECK(schemes_of(d) == both("rsa_pss_rsae_sha256"));
    }
}

} // namespace cleat::tls
