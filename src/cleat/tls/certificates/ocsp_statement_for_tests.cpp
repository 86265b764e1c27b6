#include <cleat/tls/certificates/ocsp_statement_for_tests.hpp>

#include <doctest/doctest.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace cleat::tls {
namespace {

std::string serial_of(X509 const* certificate)
{
    unsigned char* der = nullptr;
    int const size = i2d_ASN1_INTEGER(X509_get0_serialNumber(certificate), &der);
    std::string made{reinterpret_cast<char*>(der), static_cast<std::size_t>(size)};
    OPENSSL_free(der);
    return made;
}

} // namespace

std::string der_element(unsigned tag, std::string const& content)
{
    std::string made(1, static_cast<char>(tag));
    if (content.size() >= 0x100)
        made += {static_cast<char>(0x82), static_cast<char>(content.size() >> 8U)};
    else if (content.size() >= 0x80)
        made += static_cast<char>(0x81);
    return made + static_cast<char>(content.size() & 0xffU) + content;
}

std::string der_time(std::chrono::system_clock::time_point time)
{
    return der_element(
        0x18,
        fmt::format("{:%Y%m%d%H%M%S}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(time))));
}

std::string ocsp_statement::der() const
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    REQUIRE(
        X509_NAME_digest(X509_get_issuer_name(certificate), EVP_sha1(), hash.data(), &size) == 1);
    std::string const algorithm = der_element(0x30, der_element(0x06, "\x2b\x0e\x03\x02\x1a"));
    std::string const name_hash{reinterpret_cast<char*>(hash.data()), size};
    std::string const id = der_element(
        0x30, algorithm + der_element(0x04, name_hash) + der_element(0x04, std::string(20, 'k')) +
                  serial_of(certificate));
    std::string const next =
        has_next_update ? der_element(0xa0, der_time(next_update)) : std::string{};
    std::string const single = der_element(0x30, id + status + der_time(this_update) + next);
    std::string const data = der_element(
        0x30, der_element(0xa2, der_element(0x04, std::string(20, 'r'))) + der_time(this_update) +
                  der_element(0x30, single));
    // The algorithm of a signature, and none: clients of tests do not verify it.
    std::string const basic =
        der_element(0x30, data + der_element(0x30, "") + der_element(0x03, "x"));
    std::string const oid = der_element(0x06, "\x2b\x06\x01\x05\x05\x07\x30\x01\x01");
    return der_element(
        0x30, der_element(0x0a, std::string(1, '\0')) +
                  der_element(0xa0, der_element(0x30, oid + der_element(0x04, basic))));
}

} // namespace cleat::tls
