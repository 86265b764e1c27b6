// Facts of a finished handshake, from the BoringSSL family.

#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>

namespace cleat::tls::backend {

std::size_t fragment_max(SSL* ssl) noexcept
{
    static_cast<void>(ssl); // The family has no such extension: its records are full.
    return limits::plaintext_record_max;
}

bool keeps_tickets() noexcept
{
    return true;
}

int send_tickets(SSL* ssl) noexcept
{
    return SSL_write(ssl, "", 0) < 0 ? -1 : 1; // Writes the tickets and no record of its own.
}

std::string_view group_name(SSL* ssl) noexcept
{
    char const* const found = SSL_get_group_name(SSL_get_group_id(ssl));
    return found == nullptr ? std::string_view{} : found;
}

std::string_view suite_name(SSL* ssl, std::uint16_t number) noexcept
{
    static_cast<void>(ssl);
    SSL_CIPHER const* const found = SSL_get_cipher_by_value(number);
    return found == nullptr ? std::string_view{} : SSL_CIPHER_get_name(found);
}

std::string_view signature_scheme(SSL* ssl, std::uint16_t signing_scheme) noexcept
{
    if (SSL_session_reused(ssl) == 1)
        return {}; // Nothing was signed.
    // The library forgets a server's own scheme after the handshake, and keeps the peer's.
    std::uint16_t const scheme =
        SSL_is_server(ssl) == 1 ? signing_scheme : SSL_get_peer_signature_algorithm(ssl);
    char const* const found = scheme == 0 ? nullptr : SSL_get_signature_algorithm_name(scheme, 1);
    return found == nullptr ? std::string_view{} : found;
}

bool has_peer_certificate(SSL* ssl) noexcept
{
    return SSL_get0_peer_certificates(ssl) != nullptr; // Raw bytes: nothing is parsed.
}

x509_ptr peer_certificate(SSL* ssl) noexcept
{
    return x509_ptr{SSL_get_peer_certificate(ssl)};
}

std::string peer_common_name(SSL* ssl)
{
    x509_ptr const peer = peer_certificate(ssl);
    return peer == nullptr ? std::string{} : common_name(peer.get());
}

std::string peer_trusted_pem(SSL* ssl)
{
    x509_ptr const peer{SSL_get_peer_certificate(ssl)};
    return peer == nullptr ? std::string{} : trusted_pem_text(peer.get());
}

} // namespace cleat::tls::backend
