// session_keeper: passes the sessions that a server issues from the library's callback to their
// engine. Not a public header.

#pragma once

#include <cleat/tls/session.hpp>

#include <openssl/ssl.h>

#include <vector>

namespace cleat::tls {

/// keep_sessions makes connections of ctx that have a keeper store new sessions in it.
void keep_sessions(SSL_CTX* ctx) noexcept;

/// keeps_sessions: keep_sessions was called.
[[nodiscard]] bool keeps_sessions(SSL_CTX* ctx) noexcept;

/// set_keeper stores the sessions of this connection in `keeper`, which must outlive ssl.
void set_keeper(SSL* ssl, std::vector<session>* keeper);

} // namespace cleat::tls
