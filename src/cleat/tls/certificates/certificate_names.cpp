#include <cleat/tls/certificates/certificate_names.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/x509.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace cleat::tls {

std::string printable_text(std::string_view text)
{
    std::string safe{text};
    std::ranges::replace_if(
        safe, [](char c) { return c < ' ' || c > '~'; }, '?');
    return safe;
}

std::string name_text(X509_NAME const* name)
{
    bio_ptr const out{BIO_new(BIO_s_mem())};
    if (out == nullptr || X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253) < 0) {
        clear_errors();
        return {};
    }
    char const* data = nullptr;
    long const size = BIO_get_mem_data(out.get(), const_cast<char**>(&data));
    return printable_text({data, static_cast<std::size_t>(size)});
}

namespace {

std::string hex(std::span<unsigned char const> bytes)
{
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

} // namespace

std::string certificate_fingerprint(X509 const* x509)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    bool const is_done = X509_digest(x509, EVP_sha256(), digest.data(), &size) == 1;
    return is_done ? hex(std::span{digest}.first(size)) : std::string{};
}

std::string certificate_serial(X509 const* x509)
{
    ASN1_INTEGER const* const number = X509_get0_serialNumber(x509);
    std::string const magnitude =
        hex({ASN1_STRING_get0_data(number), static_cast<std::size_t>(ASN1_STRING_length(number))});
    if (magnitude.empty()) // Some libraries keep no byte of 0.
        return "00";
    // RFC 5280, section 4.1.2.2, has none below 1; a client may send any.
    return ASN1_STRING_type(number) == V_ASN1_NEG_INTEGER ? "-" + magnitude : magnitude;
}

certificate_identity identity_of(X509 const* x509)
{
    certificate_identity found{
        .subject = name_text(X509_get_subject_name(x509)),
        .fingerprint = certificate_fingerprint(x509),
        .issuer = name_text(X509_get_issuer_name(x509)),
        .serial = certificate_serial(x509)};
    clear_errors();
    return found;
}

} // namespace cleat::tls
