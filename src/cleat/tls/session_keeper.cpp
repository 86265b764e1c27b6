#include <cleat/tls/session_keeper.hpp>

#include <new>
#include <utility>

namespace cleat::tls {
namespace {

// Not the slot of SSL_set_app_data, which is the program's.
int keeper_index() noexcept
{
    static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

session_keeper* present_keeper(SSL const* ssl) noexcept
{
    return static_cast<session_keeper*>(SSL_get_ex_data(ssl, keeper_index()));
}

// Returns 1 where it has taken over the reference.
int on_new_session(SSL* ssl, SSL_SESSION* issued) noexcept
{
    session_keeper* const keeper = present_keeper(ssl);
    if (keeper == nullptr)
        return 0;
    if (keeper->server != nullptr) {
        keeper->use->cache->keep(*keeper->server, session{issued});
        return 1;
    }
    try {
        keeper->kept.reserve(keeper->kept.size() + 1);
    } catch (std::bad_alloc const&) {
        return 0; // The next connection is a full handshake; this one goes on.
    }
    keeper->kept.emplace_back(issued);
    return 1;
}

} // namespace

void session_keeper::set_server(std::string const& host, std::uint16_t port)
{
    if (use != nullptr)
        server = std::make_unique<session_key>(session_key{host, port, use->alpn, use->scope});
}

session session_keeper::begin(bool offers_another) noexcept
{
    if (std::exchange(has_begun, true) || offers_another || server == nullptr)
        return {};
    offered = use->cache->take(*server);
    return offered;
}

void session_keeper::leave_cache() noexcept
{
    use = nullptr;
    server = nullptr;
    offered = {};
}

void session_keeper::failed() noexcept
{
    if (server != nullptr && offered)
        use->cache->drop(*server, std::exchange(offered, {}));
}

void keep_sessions(SSL_CTX* ctx) noexcept
{
    // The library's own store is one for all connections, and chooses the session itself.
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, on_new_session);
}

bool keeps_sessions(SSL_CTX* ctx) noexcept
{
    return SSL_CTX_sess_get_new_cb(ctx) == on_new_session;
}

session_keeper* keeper_of(SSL* ssl) noexcept
{
    return keeps_sessions(SSL_get_SSL_CTX(ssl)) ? present_keeper(ssl) : nullptr;
}

void set_keeper(SSL* ssl, session_keeper* keeper)
{
    if (SSL_set_ex_data(ssl, keeper_index(), keeper) != 1)
        throw std::bad_alloc{};
}

} // namespace cleat::tls
