// session_keeper: how the sessions that a server gives get from the library's callback to their
// engine. Not a public header.

#pragma once

#include <cleat/tls/session.hpp>

#include <openssl/ssl.h>

#include <vector>

namespace cleat::tls {

/// keep_sessions makes connections of ctx hand out new sessions, where they have a keeper.
void keep_sessions(SSL_CTX* ctx) noexcept;

/// keeps_sessions: keep_sessions was called.
[[nodiscard]] bool keeps_sessions(SSL_CTX* ctx) noexcept;

/// set_keeper makes `into`, which must outlive ssl, take the sessions of this connection.
void set_keeper(SSL* ssl, std::vector<session>* into);

} // namespace cleat::tls
