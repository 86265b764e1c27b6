// handshake_sources: the parts of a worker that a handshake uses.

#pragma once

namespace cleat::net {
class worker_certificates;
class worker_sessions;
} // namespace cleat::net

namespace cleat::app {

class half_open_list;

struct handshake_sources
{
    half_open_list& half_open;                        ///< Where it is until it is finished.
    net::worker_certificates* certificates = nullptr; ///< Null: all are loaded.
    net::worker_sessions* sessions = nullptr;         ///< Null: none is resumed by ID.
};

} // namespace cleat::app
