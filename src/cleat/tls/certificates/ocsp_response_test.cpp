#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/stapling_client_for_tests.hpp>

#include <doctest/doctest.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls::ocsp_response_test {
namespace {

using strings = std::vector<std::string>;
using std::chrono::hours;
using std::chrono::system_clock;

std::string element(unsigned tag, std::string const& content)
{
    std::string made(1, static_cast<char>(tag));
    if (content.size() >= 0x80)
        made += {static_cast<char>(0x82), static_cast<char>(content.size() >> 8U)};
    return made + static_cast<char>(content.size() & 0xffU) + content;
}

std::string generalized_time(system_clock::time_point time)
{
    return element(
        0x18, fmt::format("{:%Y%m%d%H%M%S}Z", fmt::gmtime(system_clock::to_time_t(time))));
}

// A statement is a response of an authority, without a signature.
struct statement
{
    X509 const* certificate;
    system_clock::time_point this_update = system_clock::now() - hours{1};
    system_clock::time_point next_update = system_clock::now() + hours{1};
    bool has_next_update = true;
    std::string status = element(0x80, "");

    [[nodiscard]] std::string serial() const
    {
        unsigned char* der = nullptr;
        int const size = i2d_ASN1_INTEGER(X509_get0_serialNumber(certificate), &der);
        std::string made{reinterpret_cast<char*>(der), static_cast<std::size_t>(size)};
        OPENSSL_free(der);
        return made;
    }

    [[nodiscard]] std::string der() const
    {
        std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
        unsigned size = 0;
        REQUIRE(
            X509_NAME_digest(X509_get_issuer_name(certificate), EVP_sha1(), hash.data(), &size) ==
            1);
        std::string const algorithm = element(0x30, element(0x06, "\x2b\x0e\x03\x02\x1a"));
        std::string const name_hash{reinterpret_cast<char*>(hash.data()), size};
        std::string const id = element(
            0x30,
            algorithm + element(0x04, name_hash) + element(0x04, std::string(20, 'k')) + serial());
        std::string const next =
            has_next_update ? element(0xa0, generalized_time(next_update)) : std::string{};
        std::string const single =
            element(0x30, id + status + generalized_time(this_update) + next);
        std::string const data = element(
            0x30, element(0xa2, element(0x04, std::string(20, 'r'))) +
                      generalized_time(this_update) + element(0x30, single));
        std::string const basic = element(0x30, data + element(0x30, "") + element(0x03, "x"));
        std::string const oid = element(0x06, "\x2b\x06\x01\x05\x05\x07\x30\x01\x01");
        return element(
            0x30, element(0x0a, std::string(1, '\0')) +
                      element(0xa0, element(0x30, oid + element(0x04, basic))));
    }
};

struct ocsp_fixture
{
    test_identity site = make_identity({.names = {"a.test"}});
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
    ocsp_response const read_one = read(statement{.certificate = leaf()}.der());
    std::int64_t const now = system_clock::to_time_t(system_clock::now());
    CHECK(read_one.is_fresh(now));
    CHECK(!read_one.is_fresh(now - 2 * 3600));
    CHECK(!read_one.is_fresh(now + 2 * 3600));
    CHECK(read(statement{.certificate = leaf(), .has_next_update = false}.der())
              .is_fresh(now + 1000 * 3600));
    CHECK(warnings == strings{});
}

TEST_CASE_FIXTURE(ocsp_fixture, "every length of a response but the whole is damaged")
{
    std::string const whole = statement{.certificate = leaf()}.der();
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(!parse_ocsp(std::string_view{whole}.substr(0, size)));
    CHECK(parse_ocsp(whole)->answers.size() == 1);
    CHECK(!parse_ocsp(whole + "x"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a response with a byte changed is read without harm")
{
    std::string const whole = statement{.certificate = leaf()}.der();
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
    std::string const try_later = element(0x30, element(0x0a, "\x03"));
    CHECK(contains(refusal_of(try_later), "with the status 3"));
    test_identity const other = make_identity({.names = {"b.test"}});
    CHECK(contains(
        refusal_of(statement{.certificate = other.certificate.get()}.der()),
        "for another certificate"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a certificate with the same serial and another issuer is another")
{
    statement said{.certificate = leaf()};
    std::string der = said.der();
    std::string const hash_head = element(0x04, std::string(20, 'k')).substr(0, 2);
    der[der.find(hash_head) + 2] ^= 1; // The first byte of the first hash of 20 bytes.
    CHECK(refusal_of(der) == "");      // That of the responder's key.
    der = said.der();
    der[der.find(std::string(20, 'k')) - 3] ^= 1; // The last byte of the issuer's name hash.
    CHECK(contains(refusal_of(der), "for another certificate"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "stale, early and revoked are warnings")
{
    system_clock::time_point const now = system_clock::now();
    static_cast<void>(
        read(statement{.certificate = leaf(), .next_update = now - std::chrono::minutes{1}}.der()));
    static_cast<void>(
        read(statement{.certificate = leaf(), .this_update = now + std::chrono::minutes{1}}.der()));
    static_cast<void>(read(
        statement{.certificate = leaf(), .status = element(0xa1, generalized_time(now))}.der()));
    REQUIRE(warnings.size() == 3);
    CHECK(contains(warnings[0], "site.ocsp: the OCSP response is stale since"));
    CHECK(contains(warnings[1], "is valid from"));
    CHECK(contains(warnings[2], "is revoked"));
}

TEST_CASE_FIXTURE(ocsp_fixture, "a server sends a fresh response to a client that asks")
{
    std::string const der = statement{.certificate = leaf()}.der();
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
    context const server{spec_with(
        statement{.certificate = leaf(), .next_update = system_clock::now() - hours{1}}.der())};
    REQUIRE(server.warnings().size() == 1);
    CHECK(contains(server.warnings().front(), "stale"));
    for (protocol_version const version : both_versions)
        CHECK(stapled(server, version).empty());
}

TEST_CASE_FIXTURE(ocsp_fixture, "each certificate has its own response, or none")
{
    test_identity const other = make_identity({.names = {"b.test"}});
    test_identity const without = make_identity({.names = {"c.test"}});
    std::string const der = statement{.certificate = leaf()}.der();
    std::string const other_der = statement{.certificate = other.certificate.get()}.der();
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
