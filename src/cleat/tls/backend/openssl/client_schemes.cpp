// The schemes of the CertificateRequest. OpenSSL leaves out of one list what is not for the version
// of TLS.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace cleat::tls::backend {
namespace {

constexpr std::uint16_t rsa_pkcs1_sha1 = 0x0201; // RFC 8446, section 4.2.3.

} // namespace

bool can_verify(SSL_CTX* scratch, signature_scheme_name const& scheme) noexcept
{
    // OpenSSL takes SHA-1 in a list, and its security level then leaves it out.
    if (scheme.number == rsa_pkcs1_sha1)
        return false;
    // 3.0 takes names of RFC 8446, and others from the version on that has the algorithm.
    bool const known = SSL_CTX_set1_client_sigalgs_list(scratch, scheme.name) == 1;
    clear_errors();
    return known;
}

bool ask_for_schemes(SSL_CTX* ctx, version_schemes const* schemes)
{
    std::string names;
    auto const add = [&](signature_scheme_name const& scheme) {
        names += names.empty() ? "" : ":";
        names += scheme.name;
    };
    for (signature_scheme_name const& each : schemes->tls_1_3)
        add(each);
    for (signature_scheme_name const& each : schemes->tls_1_2)
        if (std::ranges::find(schemes->tls_1_3, each.number, &signature_scheme_name::number) ==
            schemes->tls_1_3.end())
            add(each);
    return SSL_CTX_set1_client_sigalgs_list(ctx, names.c_str()) == 1;
}

} // namespace cleat::tls::backend
