// Session IDs in the BoringSSL family. The library makes a random ID; the callback that it has
// against denial of service is the first one after that, and before the ServerHello, that can put
// the worker's number into it.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/session_id_hooks.hpp>

#include <openssl/ssl.h>

namespace cleat::tls::backend {
namespace {

int on_id_made(SSL_CLIENT_HELLO const* hello) noexcept
{
    session_id_cache const* const cache = cache_of(hello->ssl);
    SSL_SESSION* const made = SSL_get_session(hello->ssl);
    if (cache == nullptr || made == nullptr || SSL_session_reused(hello->ssl) != 0)
        return 1;
    unsigned size = 0;
    unsigned char const* const bytes = SSL_SESSION_get_id(made, &size);
    std::optional<session_id> id = id_from(bytes, size);
    if (!id)
        return 1; // A ticket is expected, and there is no ID.
    name_worker(*id, cache->worker());
    return SSL_SESSION_set1_id(made, id->data(), id->size());
}

SSL_SESSION* on_offered_id(SSL* ssl, unsigned char const* bytes, int size, int* copy) noexcept
{
    *copy = 0; // The library takes over the reference.
    session_id_cache* const cache = cache_of(ssl);
    std::optional<session_id> const id = id_from(bytes, static_cast<std::size_t>(size));
    if (cache == nullptr || !id)
        return nullptr;
    if (cache->is_elsewhere(*id) && !cache->is_answered(*id)) {
        cache->ask(*id);
        return SSL_magic_pending_session_ptr();
    }
    return session_by_id(*cache, *id);
}

} // namespace

void on_session_id(SSL_CTX* ctx)
{
    SSL_CTX_set_dos_protection_cb(ctx, on_id_made);
    SSL_CTX_sess_set_get_cb(ctx, on_offered_id);
}

bool is_wait_for_session(SSL*, int ssl_error) noexcept
{
    return ssl_error == SSL_ERROR_PENDING_SESSION;
}

} // namespace cleat::tls::backend
