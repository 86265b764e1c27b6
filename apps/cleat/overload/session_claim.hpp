// session_claim: whether a client may have a session to resume, as far as its ClientHello shows.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>
#include <cleat/tls/session_id_cache.hpp>

#include <cstdint>

namespace cleat::app {

/// session_claim is what a ClientHello claims. Each claim may be false: a key's name and an ID can
/// be copied.
enum class session_claim : std::uint8_t
{
    none,      ///< No session, or one that this process cannot have: a full handshake follows.
    here,      ///< A ticket with the name of a key that is here, or an ID that this worker has.
    elsewhere, ///< An ID that another worker may have: the client can have made it up.
};

/// claim_of a ClientHello to a server's context and the worker's sessions; null: it has none. It
/// costs a search among names: no cryptography, and no allocation.
[[nodiscard]] session_claim claim_of(
    tls::hello_facts const& hello, tls::context const& server,
    tls::session_id_cache const* sessions) noexcept;

} // namespace cleat::app
