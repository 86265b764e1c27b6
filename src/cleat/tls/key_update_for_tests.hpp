// key_update: makes an engine ask its peer for new keys (RFC 8446, section 4.6.3), for tests.

#pragma once

#include <cleat/tls/engine.hpp>

#include <openssl/ssl.h>

namespace cleat::tls {

/// request_key_update makes the next write of a TLS 1.3 engine begin with a KeyUpdate that the peer
/// must answer. False when the library refuses.
[[nodiscard]] inline bool request_key_update(engine& e)
{
    return SSL_key_update(e.native_handle(), SSL_KEY_UPDATE_REQUESTED) == 1;
}

} // namespace cleat::tls
