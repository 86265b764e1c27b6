#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>
#include <cleat/tls/certificates/ocsp_statement_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/stapling_client_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls::ocsp_response_test {
namespace {

using strings = std::vector<std::string>;
using std::chrono::hours;
using std::chrono::system_clock;

struct ocsp_fixture
{
    // OpenSSL 4 sends no response for a certificate that signed itself.
    test_identity issuer = make_identity({.common_name = "issuer", .authority = true});
    test_identity site = make_identity({.names = {"a.test"}, .issuer = &issuer});
    strings warnings;

    [[nodiscard]] X509 const* leaf() const { return site.certificate.get(); }

    ocsp_response read(std::string_view der)
    {
        return read_ocsp_response(der, "site.ocsp", leaf(), system_clock::now(), warnings);
    }

    std::string refusal_of(std::string_view der)
    {
        try {
            static_cast<void>(read(der));
        } catch (spec_error const& refused) {
            return refused.what();
        }
        return {};
    }

    [[nodiscard]] context_spec spec_with(std::string der) const
    {
        context_spec spec;
        spec.certificates = {site.source("site.pem")};
        spec.certificates.front().ocsp_response = std::move(der);
        spec.certificates.front().ocsp_origin = "site.ocsp";
        return spec;
    }
};

context_spec client_for(std::string name)
{
    context_spec spec;
    spec.role = role::client;
    spec.server_name = std::move(name);
    return spec;
}

// The response that a client gets which asks for one.
std::string stapled(context const& server, protocol_version version, std::string const& name = {})
{
    context const client{client_for(name)};
    test_connection connection{server, client};
    REQUIRE(
        SSL_set_max_proto_version(connection.client.get(), static_cast<std::uint16_t>(version)) ==
        1);
    ask_for_ocsp(connection.client.get());
    CHECK(connection.handshake());
    return received_ocsp(connection.client.get());
}

} // namespace

TEST_CASE_FIXTURE(ocsp_fixture, "a response has the times between which it is fresh")
{
    ocsp_response const read_one = read(ocsp_statement{.certificate = leaf()}.der());
    std::int64_t const now = system_clock::to_time_t(system_clock::now());
    CHECK(read_one.is_fresh(now));
    CHECK(!read_one.is_fresh(now - 2 * 3600));
    CHECK(!read_one.is_fresh(now + 2 * 3600));
    CHECK(read(ocsp_statement{.certificate = leaf(), .has_next_update = false}.der())
              .is_fresh(now + 1000 * 3600));
    CHECK(warnings == strings{});
}

TEST_CASE_FIXTURE(ocsp_fixture, "every length of a response but the whole is damaged")
{
    std::string const whole = ocsp_statement{.certificate = leaf()}.der();
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(!parse_ocsp(std::string_view{whole}.substr(0, size)));
    CHECK(parse_ocsp(whole)->answers.size() == 1);
    CHECK(!parse_ocsp(whole + "x"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a response with a byte changed is read without harm")
{
    std::string const whole = ocsp_statement{.certificate = leaf()}.der();
    for (std::size_t place = 0; place < whole.size(); ++place)
        for (unsigned const value : {0x00U, 0x7fU, 0x80U, 0x84U, 0xffU}) {
            std::string changed = whole;
            changed[place] = static_cast<char>(value);
            static_cast<void>(parse_ocsp(changed));
        }
}

TEST_CASE_FIXTURE(ocsp_fixture, "what cannot be stapled is refused, with a cure")
{
    CHECK(contains(refusal_of("-----BEGIN"), "site.ocsp: this is no OCSP response in DER form"));
    std::string const try_later = der_element(0x30, der_element(0x0a, "\x03"));
    CHECK(contains(refusal_of(try_later), "with the status 3"));
    test_identity const other = make_identity({.names = {"b.test"}});
    CHECK(contains(
        refusal_of(ocsp_statement{.certificate = other.certificate.get()}.der()),
        "for another certificate"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a certificate with the same serial and another issuer is another")
{
    ocsp_statement said{.certificate = leaf()};
    std::string der = said.der();
    std::string const hash_head = der_element(0x04, std::string(20, 'k')).substr(0, 2);
    der[der.find(hash_head) + 2] ^= 1; // The first byte of the first hash of 20 bytes.
    CHECK(refusal_of(der) == "");      // That of the responder's key.
    der = said.der();
    der[der.find(std::string(20, 'k')) - 3] ^= 1; // The last byte of the issuer's name hash.
    CHECK(contains(refusal_of(der), "for another certificate"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "stale, early and revoked are warnings")
{
    system_clock::time_point const now = system_clock::now();
    static_cast<void>(read(
        ocsp_statement{.certificate = leaf(), .next_update = now - std::chrono::minutes{1}}.der()));
    static_cast<void>(read(
        ocsp_statement{.certificate = leaf(), .this_update = now + std::chrono::minutes{1}}.der()));
    static_cast<void>(read(
        ocsp_statement{.certificate = leaf(), .status = der_element(0xa1, der_time(now))}.der()));
    REQUIRE(warnings.size() == 3);
    CHECK(contains(warnings[0], "site.ocsp: the OCSP response is stale since"));
    CHECK(contains(warnings[1], "is valid from"));
    CHECK(contains(warnings[2], "is revoked"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a server sends a fresh response to a client that asks")
{
    std::string const der = ocsp_statement{.certificate = leaf()}.der();
    context const server{spec_with(der)};
    CHECK(server.warnings() == strings{});
    for (protocol_version const version : both_versions) {
        CHECK(stapled(server, version) == der);
        context const client{client_for({})};
        test_connection silent{server, client};
        CHECK(silent.handshake());
        CHECK(received_ocsp(silent.client.get()).empty());
    }
}

TEST_CASE_FIXTURE(ocsp_fixture, "a stale response is not sent")
{
    context const server{spec_with(ocsp_statement{
        .certificate = leaf(),
        .next_update = system_clock::now() -
                       hours{1}}.der())};
    REQUIRE(server.warnings().size() == 1);
    CHECK(contains(server.warnings().front(), "stale"));
    for (protocol_version const version : both_versions)
        CHECK(stapled(server, version).empty());
}

TEST_CASE_FIXTURE(ocsp_fixture, "each certificate has its own response, or none")
{
    test_identity const other = make_identity({.names = {"b.test"}, .issuer = &issuer});
    test_identity const without = make_identity({.names = {"c.test"}});
    std::string const der = ocsp_statement{.certificate = leaf()}.der();
    std::string const other_der = ocsp_statement{.certificate = other.certificate.get()}.der();
    context_spec spec = spec_with(der);
    for (test_identity const* each : {&without, &other})
        spec.certificates.push_back(each->source("another.pem"));
    spec.certificates.back().ocsp_response = other_der;
    context const server{spec};
    for (protocol_version const version : both_versions) {
        CHECK(stapled(server, version, "a.test") == der);
        CHECK(stapled(server, version, "b.test") == other_der);
        CHECK(stapled(server, version, "c.test").empty());
    }
}

TEST_CASE_FIXTURE(ocsp_fixture, "find_mistakes names a wrong response, and its origin")
{
    strings const found = find_mistakes(spec_with("wrong"));
    REQUIRE(found.size() == 1);
    CHECK(contains(found.front(), "site.ocsp: this is no OCSP response"));
}

} // namespace cleat::tls::ocsp_response_test
