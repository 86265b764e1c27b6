// The signature scheme with OpenSSL 3.5 and later, which return its name.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {

std::string_view signature_scheme(SSL* ssl, std::uint16_t) noexcept
{
    // The library returns a scheme also where nothing was signed.
    bool const encrypts = SSL_CIPHER_get_kx_nid(SSL_get_current_cipher(ssl)) == NID_kx_rsa;
    if (encrypts || SSL_session_reused(ssl) == 1)
        return {};
    char const* name = nullptr;
    long const known = SSL_is_server(ssl) == 1 ? SSL_get0_signature_name(ssl, &name)
                                               : SSL_get0_peer_signature_name(ssl, &name);
    return known == 1 && name != nullptr ? std::string_view{name} : std::string_view{};
}

} // namespace cleat::tls::backend
