#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/peer_facts.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace cleat::tls::peer_facts_test {
namespace {

using strings = std::vector<std::string>;

context_spec client_spec()
{
    context_spec spec;
    spec.role = role::client;
    return spec;
}

context server_of(certificate_source source)
{
    context_spec spec;
    spec.certificates.push_back(std::move(source));
    return context{spec};
}

// A client whose handshake with a server that has this certificate is done.
struct connected_client
{
    explicit connected_client(certificate_source source)
        : server_context{server_of(std::move(source))}
        , client_context{client_spec()}
        , pair{server_context, client_context}
    {
        REQUIRE(pair.established());
    }

    [[nodiscard]] engine const& client() const { return pair.client.engine; }

    context server_context;
    context client_context;
    engine_pair pair;
};

bool has(strings const& all, std::string_view one)
{
    return std::ranges::find(all, one) != all.end();
}

TEST_CASE("a server's chain can be read, the leaf first")
{
    test_identity const authority = make_identity({.common_name = "authority", .authority = true});
    test_identity const leaf =
        make_identity({.names = {"a.test", "*.b.test"}, .common_name = "a", .issuer = &authority});
    connected_client const connected{leaf.source("leaf", authority.certificate_pem)};

    std::vector<shown_certificate> const shown = shown_chain(connected.client());
    REQUIRE(shown.size() == 2);
    CHECK(shown[0].subject == "CN=a");
    CHECK(shown[0].issuer == "CN=authority");
    CHECK(shown[0].names == strings{"a.test", "*.b.test"});
    CHECK(shown[0].key == "ECDSA");
    CHECK(shown[0].key_bits == 256);
    CHECK(shown[0].signature == "ecdsa-with-SHA256");
    CHECK(!shown[0].self_issued);
    CHECK(shown[0].fingerprint.size() == 64);
    CHECK(shown[1].subject == "CN=authority");
    CHECK(shown[1].self_issued);
    CHECK(shown[0].fingerprint != shown[1].fingerprint);

    std::chrono::system_clock::time_point const now = std::chrono::system_clock::now();
    CHECK(shown[0].from < now);
    CHECK(shown[0].until > now + std::chrono::hours{24 * 29});
    CHECK(shown[0].until < now + std::chrono::hours{24 * 31});
}

TEST_CASE("each kind of key has its name")
{
    connected_client const rsa{make_identity({.type = key_type::rsa}).source("rsa")};
    CHECK(shown_chain(rsa.client()).at(0).key == "RSA");
    CHECK(shown_chain(rsa.client()).at(0).key_bits == 2048);
    connected_client const p384{make_identity({.type = key_type::ecdsa_p384}).source("p384")};
    CHECK(shown_chain(p384.client()).at(0).key == "ECDSA");
    CHECK(shown_chain(p384.client()).at(0).key_bits == 384);
}

TEST_CASE("control characters in a certificate are replaced")
{
    connected_client const connected{make_identity({.common_name = "red\x1b[31m"}).source("red")};
    std::string const subject = shown_chain(connected.client()).at(0).subject;
    CHECK(subject.starts_with("CN=red"));
    CHECK(subject.find('\x1b') == std::string::npos);
}

TEST_CASE("a chain verifies against its authority, whether or not the name matches")
{
    test_identity const authority = make_identity({.common_name = "authority", .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &authority});
    connected_client const connected{leaf.source("leaf")};

    trust const good =
        verify_shown(connected.client(), "a.test", authority.certificate_pem, "ca.pem");
    CHECK(good.verified);
    CHECK(good.reason.empty());
    CHECK(good.name_matches);

    trust const other =
        verify_shown(connected.client(), "b.test", authority.certificate_pem, "ca.pem");
    CHECK(other.verified);
    CHECK(!other.name_matches);
    CHECK(
        !verify_shown(connected.client(), "127.0.0.1", authority.certificate_pem, "").name_matches);
}

TEST_CASE("a chain without its intermediate is incomplete")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const middle =
        make_identity({.common_name = "middle", .issuer = &root, .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &middle});

    connected_client const without{leaf.source("leaf")};
    trust const broken = verify_shown(without.client(), "a.test", root.certificate_pem, "ca.pem");
    CHECK(!broken.verified);
    CHECK(broken.incomplete);
    CHECK(!broken.reason.empty());
    CHECK(broken.name_matches);

    connected_client const complete{leaf.source("leaf", middle.certificate_pem)};
    CHECK(verify_shown(complete.client(), "a.test", root.certificate_pem, "ca.pem").verified);
}

TEST_CASE("the system's authorities do not know a certificate made a moment ago")
{
    connected_client const connected{make_identity({.names = {"a.test"}}).source("self-signed")};
    trust const found = verify_shown(connected.client(), "a.test", {}, {});
    CHECK(!found.verified);
    CHECK(!found.incomplete);
    CHECK(found.name_matches);
}

TEST_CASE("authorities that cannot be read are named")
{
    connected_client const connected{make_identity({.names = {"a.test"}}).source("self-signed")};
    CHECK_THROWS_WITH_AS(
        static_cast<void>(verify_shown(connected.client(), "a.test", "no PEM", "ca.pem")),
        doctest::Contains("ca.pem"), spec_error);
}

TEST_CASE("a ticket has its server's lifetime, and copies of it can each be offered")
{
    for (protocol_version const each : {protocol_version::tls_1_2, protocol_version::tls_1_3}) {
        CAPTURE(static_cast<int>(each));
        test_identity const identity = make_identity({.names = {"a.test"}});
        context_spec serve;
        serve.certificates.push_back(identity.source("test"));
        serve.tickets = std::make_shared<ticket_secret const>();
        serve.ticket_rotation = std::chrono::hours{1};
        context const server_context{serve};
        context_spec ask = client_spec();
        ask.version_min = ask.version_max = each;
        ask.keep_sessions = true;
        context const client_context{ask};
        engine_pair pair{server_context, client_context};
        REQUIRE(pair.established());
        std::vector<std::byte> none;
        std::array const byte{std::byte{'x'}};
        REQUIRE(!write_all(pair.server, pair.client, byte).error);
        REQUIRE(!read_all(pair.client, pair.server, none).error);
        std::vector<session> const given = pair.client.engine.take_sessions();
        REQUIRE(given.size() == 1);
        CHECK(kept_for(given.front()) <= std::chrono::hours{1});
        CHECK(kept_for(given.front()) > std::chrono::minutes{59});
        CHECK(ticket_of(given.front()).size() > 32);

        // OpenSSL offers the same session only once.
        for (int i = 0; i < 2; ++i) {
            session const again = copy_of(given.front());
            REQUIRE(again);
            engine_pair next{server_context, client_context};
            next.client.engine.resume(again);
            REQUIRE(next.established());
            CHECK(next.client.engine.info().resumed);
        }
    }
    CHECK(!copy_of(session{}));
    CHECK(kept_for(session{}).count() == 0);
    CHECK(ticket_of(session{}).empty());
}

TEST_CASE("every offerable suite and group makes a context")
{
    strings const old = offerable_suites(protocol_version::tls_1_2);
    CHECK(has(old, "ECDHE-RSA-AES128-GCM-SHA256"));
    CHECK(has(old, "ECDHE-RSA-AES128-SHA"));
    strings const recent = offerable_suites(protocol_version::tls_1_3);
    CHECK(has(recent, "TLS_AES_128_GCM_SHA256"));
    strings const groups = offerable_groups();
    CHECK(has(groups, "X25519"));
    CHECK(has(groups, "P-521"));

    for (std::string const& each : old) {
        CAPTURE(each);
        context_spec spec = client_spec();
        spec.version_max = protocol_version::tls_1_2;
        spec.ciphers = each;
        CHECK_NOTHROW(context{spec});
        CHECK(each.find("PSK") == std::string::npos);
    }
    for (std::string const& each : recent) {
        CAPTURE(each);
        context_spec spec = client_spec();
        spec.version_min = protocol_version::tls_1_3;
        spec.ciphersuites = each;
        CHECK_NOTHROW(context{spec});
    }
    for (std::string const& each : groups) {
        CAPTURE(each);
        context_spec spec = client_spec();
        spec.groups = each;
        CHECK_NOTHROW(context{spec});
    }
}

TEST_CASE("after accept_weak a context still offers the suites of its spec")
{
    test_identity const identity = make_identity({.names = {"a.test"}});
    context const server_context = server_of(identity.source("test"));
    context_spec spec = client_spec();
    spec.version_max = protocol_version::tls_1_2;
    spec.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
    context const client_context{spec};
    accept_weak(client_context, spec);
    engine_pair pair{server_context, client_context};
    REQUIRE(pair.established());
    CHECK(pair.client.engine.info().cipher == "ECDHE-ECDSA-AES256-GCM-SHA384");
}

} // namespace
} // namespace cleat::tls::peer_facts_test
