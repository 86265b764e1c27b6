// Early data of a client in the BoringSSL family. The handshake returns once the ClientHello is
// written, SSL_write writes early data up to the session's limit, and a rejection is an error of
// the handshake, which goes on after SSL_reset_early_data_reject.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {

bool allows_early_data(SSL_SESSION const* session) noexcept
{
    return SSL_SESSION_early_data_capable(session) == 1;
}

// The library compares ALPN itself, and does not offer early data where it differs.
void set_offered_alpn(SSL_CTX*, std::vector<unsigned char> const*) {}

bool may_offer_early_data(SSL* ssl) noexcept
{
    SSL_SESSION const* const session = SSL_get_session(ssl);
    return session != nullptr && allows_early_data(session);
}

int begin_early_data(SSL* ssl) noexcept
{
    SSL_set_early_data_enabled(ssl, 1);
    return SSL_do_handshake(ssl);
}

int write_early_data(SSL* ssl, std::span<std::byte const> record, std::size_t) noexcept
{
    // The session's limit has no getter. A partial write stops at the limit; a complete one would
    // finish the handshake for the rest, and require a retry with the same bytes.
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
    int const value = SSL_write(ssl, record.data(), static_cast<int>(record.size()));
    SSL_clear_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
    return value <= 0 && SSL_get_error(ssl, value) == SSL_ERROR_WANT_READ ? 0 : value;
}

int continue_after_rejection(SSL* ssl, int value) noexcept
{
    if (SSL_get_error(ssl, value) != SSL_ERROR_EARLY_DATA_REJECTED)
        return value;
    SSL_reset_early_data_reject(ssl);
    return SSL_do_handshake(ssl);
}

bool early_data_accepted(SSL const* ssl) noexcept
{
    return SSL_early_data_accepted(ssl) == 1;
}

} // namespace cleat::tls::backend
