// Session IDs with OpenSSL. Its callback for an offered ID cannot wait, but the one for the
// ClientHello before it can.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/session_ids.hpp>
#include <cleat/tls/backend/openssl/state.hpp>
#include <cleat/tls/session_id_hooks.hpp>

#include <openssl/rand.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <optional>

namespace cleat::tls {
namespace backend {
namespace {

int on_make_id(SSL* ssl, unsigned char* bytes, unsigned* size) noexcept
{
    session_id_plan const* const plan = plan_of_ids(ssl);
    session_id id{};
    if (plan == nullptr || *size < id.size() ||
        RAND_bytes_ex(plan->library->native().library.get(), id.data(), id.size(), 0) != 1)
        return 0;
    if (plan->cache != nullptr)
        name_worker(id, plan->cache->worker());
    std::copy(id.begin(), id.end(), bytes);
    *size = id.size();
    return 1;
}

// A TLS 1.2 session goes on under the name that it began with: see has_other_name.
SSL_SESSION* on_offered_id(SSL* ssl, unsigned char const* bytes, int size, int* copy) noexcept
{
    *copy = 0; // The library takes over the reference.
    session_id_cache* const cache = cache_of(ssl);
    std::optional<session_id> const id = id_from(bytes, static_cast<std::size_t>(size));
    SSL_SESSION* const found = cache == nullptr || !id ? nullptr : session_by_id(*cache, *id);
    if (found == nullptr || !openssl::has_other_name(ssl, found))
        return found;
    SSL_SESSION_free(found);
    return nullptr;
}

// RFC 8446, section 4.2.1: a list of two bytes each, with its size in one byte before it.
bool offers_tls_1_3(client_hello const& hello) noexcept
{
    octets const versions = hello.body_of(extension::supported_versions);
    for (std::size_t i = 1; i + 1 < versions.size(); i += 2)
        if (versions[i] == 0x03 && versions[i + 1] == 0x04)
            return true;
    return false;
}

} // namespace

void on_session_id(SSL_CTX* ctx)
{
    SSL_CTX_set_generate_session_id(ctx, on_make_id);
    SSL_CTX_sess_set_get_cb(ctx, on_offered_id);
    SSL_CTX_set_tlsext_servername_callback(ctx, openssl::accept_name);
    on_client_hello(ctx, nullptr);
}

bool is_wait_for_session(SSL* ssl, int ssl_error) noexcept
{
    return ssl_error == SSL_ERROR_WANT_CLIENT_HELLO_CB && openssl::awaited_session(ssl).has_value();
}

} // namespace backend

std::optional<session_id> openssl::awaited_session(SSL* ssl) noexcept
{
    session_id_cache* const cache = cache_of(ssl);
    if (cache == nullptr)
        return {};
    unsigned char const* bytes = nullptr;
    std::size_t const size = SSL_client_hello_get0_session_id(ssl, &bytes);
    std::optional<session_id> const id = id_from(bytes, size);
    if (!id || !cache->is_elsewhere(*id) || cache->is_answered(*id))
        return {};
    // With a ticket, and in TLS 1.3, the ID is only one that the client has made up.
    backend::client_hello const hello{ssl};
    bool const is_1_3 =
        SSL_get_max_proto_version(ssl) == TLS1_3_VERSION && backend::offers_tls_1_3(hello);
    if (is_1_3 || !hello.body_of(extension::session_ticket).empty())
        return {};
    return id;
}

} // namespace cleat::tls
