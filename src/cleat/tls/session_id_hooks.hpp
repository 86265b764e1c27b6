// session_id_hooks: how a server's SSL_CTX reaches the session_id_cache of its worker. Not a public
// header.

#pragma once

#include <cleat/tls/handles.hpp>
#include <cleat/tls/session_id_cache.hpp>

namespace cleat::tls {

namespace backend {
class library_state;
}

/// session_id_plan is where the sessions of a context are.
struct session_id_plan
{
    session_id_cache* cache = nullptr;               ///< Null: nowhere yet.
    backend::library_state const* library = nullptr; ///< The context's.
};

/// cache_of is the cache of a connection, or null.
[[nodiscard]] session_id_cache* cache_of(SSL const* ssl) noexcept;
[[nodiscard]] session_id_plan const* plan_of_ids(SSL const* ssl) noexcept;

/// keep_by_id makes connections of a server's ctx keep the sessions of TLS 1.2 clients without
/// tickets in the plan's cache, and resume them. The plan must outlive ctx.
void keep_by_id(SSL_CTX* ctx, session_id_plan const* plan);

/// session_by_id is the session that a client offers by its ID, decoded, or null; the caller owns
/// it. The ID is of this worker's, or was answered.
[[nodiscard]] SSL_SESSION* session_by_id(session_id_cache& cache, session_id const& id) noexcept;

/// id_from is an ID as the library gives it; nothing where it has another size than ours.
[[nodiscard]] std::optional<session_id> id_from(
    unsigned char const* bytes, std::size_t size) noexcept;

} // namespace cleat::tls
