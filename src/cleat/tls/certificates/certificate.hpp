// certificate: a server's certificate with its chain and key, read from PEM and checked. Not a
// public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/certificates/ocsp_response.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_text is a certificate_source that somebody else owns.
struct certificate_text
{
    std::string_view chain;
    std::string_view private_key;
    std::string origin;
    std::string_view ocsp_response{}; ///< Empty: none.
    std::string ocsp_origin{};
};

/// certificate is what one certificate_source holds, in the library's own form.
struct certificate
{
    x509_ptr leaf;
    std::vector<x509_ptr> chain; ///< Intermediates in the order of the file.
    evp_pkey_ptr key;
    key_type type = key_type::rsa;
    std::vector<std::string> names; ///< DNS names and wildcards that it answers to.
    std::string origin;
    std::optional<ocsp_response> staple;
    bool is_renewed = false; ///< A store has the one that was in its files before.
};

/// read_certificate throws spec_error, which names the origin and what to do, when there is no
/// usable certificate and key. Expiry, a wrong order and unusable names are added to warnings.
[[nodiscard]] certificate read_certificate(
    backend::library_state const& library, certificate_text const& source,
    std::chrono::system_clock::time_point now, std::vector<std::string>& warnings);
[[nodiscard]] inline certificate read_certificate(
    backend::library_state const& library, certificate_source const& source,
    std::chrono::system_clock::time_point now, std::vector<std::string>& warnings)
{
    certificate_text const text{
        source.chain, source.private_key, source.origin, source.ocsp_response, source.ocsp_origin};
    return read_certificate(library, text, now, warnings);
}

/// read_chain reads every certificate of a PEM text; spec_error when there is none or one is bad.
[[nodiscard]] std::vector<x509_ptr> read_chain(
    backend::library_state const& library, std::string_view pem, std::string const& origin);

/// read_private_key reads the first private key of a PEM text; spec_error where there is none, and
/// for one that is damaged or under a passphrase.
[[nodiscard]] evp_pkey_ptr read_private_key(
    backend::library_state const& library, std::string_view pem, std::string const& origin);

/// server_key_type is the key's type; spec_error where TLS servers cannot use the key.
[[nodiscard]] key_type server_key_type(EVP_PKEY* key, std::string const& origin);

/// read_authorities reads every certificate of a PEM text; spec_error when there is none or one is
/// bad.
[[nodiscard]] std::vector<x509_ptr> read_authorities(
    backend::library_state const& library, std::string_view pem, std::string const& origin);

/// host_names are the host names in a certificate: DNS names of its SAN, or its CN where the
/// SAN has none (RFC 6125, section 6.4.4).
struct host_names
{
    std::vector<std::string> usable;
    std::vector<std::string> unusable; ///< No DNS name, and no wildcard for one label.
};
[[nodiscard]] host_names host_names_in(X509 const* x509);

/// entry_in is the last entry of a name with this NID, in UTF-8; or empty.
[[nodiscard]] std::string entry_in(X509_NAME const* name, int nid);

/// lifetime_of is how long the certificate is valid; its last second counts, too (RFC 5280, section
/// 4.1.2.5). 0: it is never valid, or a date cannot be read.
[[nodiscard]] std::chrono::seconds lifetime_of(X509 const* x509) noexcept;

/// common_name is the last CN of the subject in UTF-8, or empty.
[[nodiscard]] std::string common_name(X509 const* x509);

/// trusted_pem_text is the certificate in PEM with OpenSSL's label "TRUSTED CERTIFICATE". Empty
/// where the library has no memory.
[[nodiscard]] std::string trusted_pem_text(X509* x509);

} // namespace cleat::tls
