#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/crl_end.hpp>
#include <cleat/tls/handles.hpp>

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>
#include <string>

namespace cleat::tls::crl_end_test {
namespace {

using asn1_time_ptr = std::unique_ptr<ASN1_TIME, freed_by<ASN1_TIME_free>>;

// A CRL of the authority, in PEM. 0: it has no nextUpdate.
std::string crl_of(test_identity const& authority, std::time_t next_update)
{
    x509_crl_ptr const crl{X509_CRL_new()};
    X509_CRL_set_version(crl.get(), 1);
    X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(authority.certificate.get()));
    asn1_time_ptr const last{ASN1_TIME_set(nullptr, 1'000'000'000)};
    X509_CRL_set1_lastUpdate(crl.get(), last.get());
    if (next_update != 0) {
        asn1_time_ptr const next{ASN1_TIME_set(nullptr, next_update)};
        X509_CRL_set1_nextUpdate(crl.get(), next.get());
    }
    REQUIRE(X509_CRL_sign(crl.get(), authority.key.get(), EVP_sha256()) > 0);
    bio_ptr const out{BIO_new(BIO_s_mem())};
    REQUIRE(PEM_write_bio_X509_CRL(out.get(), crl.get()) == 1);
    std::string text(8192, '\0');
    text.resize(
        static_cast<std::size_t>(BIO_read(out.get(), text.data(), static_cast<int>(text.size()))));
    return text;
}

std::chrono::sys_seconds time_of(std::time_t time)
{
    return std::chrono::sys_seconds{std::chrono::seconds{time}};
}

} // namespace

TEST_CASE("each CRL of a file has an end of its own")
{
    test_identity const authority = make_identity({.authority = true});
    std::string const text =
        crl_of(authority, 2'000'000'000) + crl_of(authority, 0) + crl_of(authority, 1'500'000'000);
    std::vector<crl_end> const found = find_crl_ends({text, "a.crl"});
    REQUIRE(found.size() == 2);
    CHECK(found[0] == crl_end{"a.crl", time_of(2'000'000'000)});
    CHECK(found[1] == crl_end{"a.crl", time_of(1'500'000'000)});
}

TEST_CASE("a file that is no CRL has no end")
{
    CHECK(find_crl_ends({"nothing", "a.crl"}).empty());
}

} // namespace cleat::tls::crl_end_test
