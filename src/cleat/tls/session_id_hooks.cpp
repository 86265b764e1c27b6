#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/session_id_hooks.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cleat::tls {
namespace {

int id_plan_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// Always 0: the library keeps its reference.
int keep_new_session(SSL* ssl, SSL_SESSION* made) noexcept
{
    session_id_cache* const cache = cache_of(ssl);
    unsigned size = 0;
    unsigned char const* const bytes = SSL_SESSION_get_id(made, &size);
    std::optional<session_id> const id = id_from(bytes, size);
    // OpenSSL calls this for the tickets of TLS 1.3, too.
    if (cache == nullptr || !id || SSL_version(ssl) == TLS1_3_VERSION ||
        SSL_session_reused(ssl) != 0)
        return 0;
    std::array<unsigned char, limits::cached_session_max> encoded; // NOLINT: written below.
    int const length = i2d_SSL_SESSION(made, nullptr);
    if (length > 0 && static_cast<std::size_t>(length) <= encoded.size()) {
        unsigned char* out = encoded.data();
        if (i2d_SSL_SESSION(made, &out) == length)
            cache->keep(
                *id, std::as_bytes(std::span{encoded.data(), static_cast<std::size_t>(length)}),
                session_id_cache::clock::now());
        OPENSSL_cleanse(encoded.data(), static_cast<std::size_t>(length));
    }
    clear_errors();
    return 0;
}

} // namespace

session_id_plan const* plan_of_ids(SSL const* ssl) noexcept
{
    return static_cast<session_id_plan const*>(
        SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), id_plan_index()));
}

session_id_cache* cache_of(SSL const* ssl) noexcept
{
    session_id_plan const* const plan = plan_of_ids(ssl);
    return plan == nullptr ? nullptr : plan->cache;
}

void keep_by_id(SSL_CTX* ctx, session_id_plan const* plan)
{
    SSL_CTX_set_ex_data(ctx, id_plan_index(), const_cast<session_id_plan*>(plan));
    // The library's own cache would share its sessions with whoever has one, and has a lock.
    SSL_CTX_set_session_cache_mode(
        ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL | SSL_SESS_CACHE_NO_AUTO_CLEAR);
    SSL_CTX_sess_set_new_cb(ctx, keep_new_session);
    backend::on_session_id(ctx);
}

SSL_SESSION* session_by_id(session_id_cache& cache, session_id const& id) noexcept
{
    std::optional<encoded_session> const answered = cache.take_answer(id);
    std::span<std::byte const> const found =
        answered ? answered->bytes() : cache.find(id, session_id_cache::clock::now());
    auto const* begin = reinterpret_cast<unsigned char const*>(found.data());
    SSL_SESSION* const decoded =
        found.empty() ? nullptr : d2i_SSL_SESSION(nullptr, &begin, static_cast<long>(found.size()));
    note_ticket({decoded == nullptr ? ticket_use::unknown_id : ticket_use::found_id});
    if (decoded != nullptr)
        note_session_age(static_cast<std::uint64_t>(SSL_SESSION_get_time(decoded)));
    clear_errors();
    return decoded;
}

std::optional<session_id> id_from(unsigned char const* bytes, std::size_t size) noexcept
{
    session_id id{};
    if (size != id.size())
        return {};
    std::copy_n(bytes, size, id.begin());
    return id;
}

} // namespace cleat::tls
