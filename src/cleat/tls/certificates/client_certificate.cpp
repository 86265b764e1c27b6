#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_names.hpp>
#include <cleat/tls/certificates/client_certificate.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/x509v3.h>

#include <cstddef>
#include <memory>
#include <new>

namespace cleat::tls {
namespace {

using alternative_names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;
using purposes_ptr = std::unique_ptr<EXTENDED_KEY_USAGE, freed_by<EXTENDED_KEY_USAGE_free>>;

std::string bytes_of(ASN1_STRING const* text)
{
    return {
        reinterpret_cast<char const*>(ASN1_STRING_get0_data(text)),
        static_cast<std::size_t>(ASN1_STRING_length(text))};
}

void add_alternative_names(client_certificate& found, X509 const* x509)
{
    alternative_names_ptr const names{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr))};
    int const count = names == nullptr ? 0 : static_cast<int>(sk_GENERAL_NAME_num(names.get()));
    for (int i = 0; i < count; ++i) {
        GENERAL_NAME const* const each = sk_GENERAL_NAME_value(
            names.get(), static_cast<decltype(sk_GENERAL_NAME_num(names.get()))>(i));
        switch (each->type) {
        case GEN_DNS:
            found.dns_names.push_back(bytes_of(each->d.dNSName));
            break;
        case GEN_URI:
            found.uris.push_back(bytes_of(each->d.uniformResourceIdentifier));
            break;
        case GEN_EMAIL:
            found.emails.push_back(bytes_of(each->d.rfc822Name));
            break;
        case GEN_IPADD:
            found.addresses.push_back(bytes_of(each->d.iPAddress));
            break;
        default:
            break;
        }
    }
}

void add_purposes(client_certificate& found, X509 const* x509)
{
    purposes_ptr const all{static_cast<EXTENDED_KEY_USAGE*>(
        X509_get_ext_d2i(x509, NID_ext_key_usage, nullptr, nullptr))};
    int const count = all == nullptr ? 0 : static_cast<int>(sk_ASN1_OBJECT_num(all.get()));
    for (int i = 0; i < count; ++i) {
        std::array<char, 128> text{};
        auto const* const each = sk_ASN1_OBJECT_value(
            all.get(), static_cast<decltype(sk_ASN1_OBJECT_num(all.get()))>(i));
        OBJ_obj2txt(text.data(), static_cast<int>(text.size()), each, 1);
        found.purposes.emplace_back(text.data());
    }
}

void hash_public_key(client_certificate& found, X509* x509)
{
    unsigned char* der = nullptr;
    int const size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), &der);
    if (size <= 0)
        throw std::bad_alloc{};
    backend::sha256({der, static_cast<std::size_t>(size)}, found.spki_sha256);
    OPENSSL_free(der);
}

} // namespace

std::optional<client_certificate> read_client_certificate(engine const& server)
{
    ssl_st* const ssl = server.native_handle();
    if (!backend::has_peer_certificate(ssl))
        return {};
    x509_ptr const x509 = backend::peer_certificate(ssl);
    if (x509 == nullptr)
        throw std::bad_alloc{};
    client_certificate found;
    found.common_name = common_name(x509.get());
    found.subject = name_text(X509_get_subject_name(x509.get()));
    found.issuer = name_text(X509_get_issuer_name(x509.get()));
    add_alternative_names(found, x509.get());
    add_purposes(found, x509.get());
    hash_public_key(found, x509.get());
    found.is_authority = X509_check_ca(x509.get()) == 1;
    found.valid_until = backend::posix_time(X509_get0_notAfter(x509.get())).value_or(0);
    clear_errors(); // Errors for parts that could not be read: rules do not find them.
    return found;
}

} // namespace cleat::tls
