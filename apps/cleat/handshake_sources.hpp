// handshake_sources: what a handshake may have to wait for.

#pragma once

namespace cleat::net {
class worker_certificates;
class worker_sessions;
} // namespace cleat::net

namespace cleat::app {

struct handshake_sources
{
    net::worker_certificates* certificates = nullptr; ///< Null: all are loaded.
    net::worker_sessions* sessions = nullptr;         ///< Null: none is resumed by ID.
};

} // namespace cleat::app
