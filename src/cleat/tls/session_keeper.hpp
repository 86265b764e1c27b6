// session_keeper: passes the sessions that a server issues from the library's callback to their
// engine, or to the cache of its context. Not a public header.

#pragma once

#include <cleat/tls/session.hpp>
#include <cleat/tls/session_cache.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

namespace cleat::tls {

/// cache_use is a context's cache, and what its connections' keys have in common.
struct cache_use
{
    std::shared_ptr<session_cache> cache;
    std::string alpn;
    std::string scope;
};

/// session_keeper is where the sessions of one connection go: to the cache if its server is known,
/// and else to `kept`.
struct session_keeper
{
    cache_use const* use = nullptr; ///< Null: the context has no cache.
    std::unique_ptr<session_key> server{};
    session offered{}; ///< From the cache.
    std::vector<session> kept{};
    bool has_begun = false; ///< The handshake has.

    /// set_server: before the handshake; the last call counts. Throws std::bad_alloc.
    void set_server(std::string const& host, std::uint16_t port);

    /// begin is called before each step of the handshake. The first call takes a session of the
    /// cache, unless the connection offers another, and returns it. Others return none.
    [[nodiscard]] session begin(bool offers_another) noexcept;

    /// leave_cache: this connection verifies its server by rules of its own. Its sessions go to
    /// `kept`.
    void leave_cache() noexcept;

    /// failed: the handshake that has offered a session of the cache has failed.
    void failed() noexcept;
};

/// keep_sessions makes connections of ctx that have a keeper store new sessions in it.
void keep_sessions(SSL_CTX* ctx) noexcept;

/// keeps_sessions: keep_sessions was called.
[[nodiscard]] bool keeps_sessions(SSL_CTX* ctx) noexcept;

/// keeper_of is the connection's keeper; null: it has none.
[[nodiscard]] session_keeper* keeper_of(SSL* ssl) noexcept;

/// set_keeper stores the sessions of this connection in `keeper`, which must outlive ssl.
void set_keeper(SSL* ssl, session_keeper* keeper);

} // namespace cleat::tls
