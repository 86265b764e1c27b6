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

namespace cleat::tls {
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

// A client that has shaken hands with a server that shows this.
struct visit
{
    explicit visit(certificate_source source)
        : of_server{server_of(std::move(source))}
        , of_client{client_spec()}
        , joined{of_server, of_client}
    {
        REQUIRE(joined.established());
    }

    [[nodiscard]] engine const& client() const { return joined.client.engine; }

    context of_server;
    context of_client;
    duet joined;
};

bool has(strings const& all, std::string_view one)
{
    return std::ranges::find(all, one) != all.end();
}

TEST_CASE("what a server shows can be read, the leaf first")
{
    test_identity const authority = make_identity({.common_name = "authority", .authority = true});
    test_identity const leaf =
        make_identity({.names = {"a.test", "*.b.test"}, .common_name = "a", .issuer = &authority});
    visit const to{leaf.source("leaf", authority.certificate_pem)};

    std::vector<shown_certificate> const shown = shown_chain(to.client());
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

TEST_CASE("each kind of key has its word")
{
    visit const rsa{make_identity({.type = key_type::rsa}).source("rsa")};
    CHECK(shown_chain(rsa.client()).at(0).key == "RSA");
    CHECK(shown_chain(rsa.client()).at(0).key_bits == 2048);
    visit const p384{make_identity({.type = key_type::ecdsa_p384}).source("p384")};
    CHECK(shown_chain(p384.client()).at(0).key == "ECDSA");
    CHECK(shown_chain(p384.client()).at(0).key_bits == 384);
}

TEST_CASE("what a certificate says to the terminal is taken out")
{
    visit const to{make_identity({.common_name = "red\x1b[31m"}).source("red")};
    std::string const subject = shown_chain(to.client()).at(0).subject;
    CHECK(subject.starts_with("CN=red"));
    CHECK(subject.find('\x1b') == std::string::npos);
}

TEST_CASE("a chain verifies against its authority, and the name is a question of its own")
{
    test_identity const authority = make_identity({.common_name = "authority", .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &authority});
    visit const to{leaf.source("leaf")};

    trust const good = verify_shown(to.client(), "a.test", authority.certificate_pem, "ca.pem");
    CHECK(good.verified);
    CHECK(good.reason.empty());
    CHECK(good.name_matches);

    trust const other = verify_shown(to.client(), "b.test", authority.certificate_pem, "ca.pem");
    CHECK(other.verified);
    CHECK(!other.name_matches);
    CHECK(!verify_shown(to.client(), "127.0.0.1", authority.certificate_pem, "").name_matches);
}

TEST_CASE("a chain without its intermediate is incomplete")
{
    test_identity const root = make_identity({.common_name = "root", .authority = true});
    test_identity const middle =
        make_identity({.common_name = "middle", .issuer = &root, .authority = true});
    test_identity const leaf = make_identity({.names = {"a.test"}, .issuer = &middle});

    visit const without{leaf.source("leaf")};
    trust const broken = verify_shown(without.client(), "a.test", root.certificate_pem, "ca.pem");
    CHECK(!broken.verified);
    CHECK(broken.incomplete);
    CHECK(!broken.reason.empty());
    CHECK(broken.name_matches);

    visit const with{leaf.source("leaf", middle.certificate_pem)};
    CHECK(verify_shown(with.client(), "a.test", root.certificate_pem, "ca.pem").verified);
}

TEST_CASE("the system's authorities do not know a certificate made a moment ago")
{
    visit const to{make_identity({.names = {"a.test"}}).source("self-signed")};
    trust const found = verify_shown(to.client(), "a.test", {}, {});
    CHECK(!found.verified);
    CHECK(!found.incomplete);
    CHECK(found.name_matches);
}

TEST_CASE("authorities that cannot be read are named")
{
    visit const to{make_identity({.names = {"a.test"}}).source("self-signed")};
    CHECK_THROWS_WITH_AS(
        static_cast<void>(verify_shown(to.client(), "a.test", "no PEM", "ca.pem")),
        doctest::Contains("ca.pem"), spec_error);
}

TEST_CASE("a ticket is good for as long as its server says, and a copy of it as often")
{
    for (protocol_version const each : {protocol_version::tls_1_2, protocol_version::tls_1_3}) {
        CAPTURE(static_cast<int>(each));
        test_identity const identity = make_identity({.names = {"a.test"}});
        context_spec serve;
        serve.certificates.push_back(identity.source("test"));
        serve.tickets = std::make_shared<ticket_secret const>();
        serve.ticket_rotation = std::chrono::hours{1};
        context const of_server{serve};
        context_spec ask = client_spec();
        ask.version_min = ask.version_max = each;
        ask.keep_sessions = true;
        context const of_client{ask};
        duet joined{of_server, of_client};
        REQUIRE(joined.established());
        std::vector<std::byte> none;
        std::array const word{std::byte{'x'}};
        REQUIRE(!write_all(joined.server, joined.client, word).error);
        REQUIRE(!read_all(joined.client, joined.server, none).error);
        std::vector<session> const given = joined.client.engine.take_sessions();
        REQUIRE(given.size() == 1);
        CHECK(kept_for(given.front()) <= std::chrono::hours{1});
        CHECK(kept_for(given.front()) > std::chrono::minutes{59});

        // A copy can be offered as often as one likes.
        for (int i = 0; i < 2; ++i) {
            session const again = copy_of(given.front());
            REQUIRE(again);
            duet next{of_server, of_client};
            next.client.engine.resume(again);
            REQUIRE(next.established());
            CHECK(next.client.engine.info().resumed);
        }
    }
    CHECK(!copy_of(session{}));
    CHECK(kept_for(session{}).count() == 0);
}

TEST_CASE("every suite and group that is said to be offerable makes a context")
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

TEST_CASE("a context that accepts what is weak still offers what its spec says")
{
    test_identity const identity = make_identity({.names = {"a.test"}});
    context const of_server = server_of(identity.source("test"));
    context_spec spec = client_spec();
    spec.version_max = protocol_version::tls_1_2;
    spec.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
    context const of_client{spec};
    accept_weak(of_client, spec);
    duet joined{of_server, of_client};
    REQUIRE(joined.established());
    CHECK(joined.client.engine.info().cipher == "ECDHE-ECDSA-AES256-GCM-SHA384");
}

} // namespace
} // namespace cleat::tls
