// memory_handshake: a handshake between two SSL in one thread, with no socket. Not a public header.

#pragma once

#include <cleat/tls/handles.hpp>

namespace cleat::tls {

/// join_in_memory connects two new SSL to each other, and gives each its role.
[[nodiscard]] bool join_in_memory(SSL* server, SSL* client);

/// shake_hands runs the handshake of both. False when one fails: the error queue has the reason.
[[nodiscard]] bool shake_hands(SSL* server, SSL* client);

} // namespace cleat::tls
