// session_cache: the TLS sessions that a worker can resume at one server of an upstream.

#pragma once

#include <cleat/core/limits.hpp>
#include <cleat/tls/session.hpp>

#include <array>
#include <cstddef>

namespace cleat::app {

/// session_cache keeps the newest sessions of a server, at most limits::upstream_sessions_max. It
/// belongs to its worker's thread, and to one configuration: a session resumes without a look at
/// the server's certificate, so it must not outlive the rules under which that was verified.
class session_cache
{
public:
    /// keep adds a session. The oldest gives way where there is no room.
    void keep(tls::session issued) noexcept;

    /// take is the newest session; empty: there is none. One of TLS 1.3 is taken out, because it is
    /// for one connection (RFC 8446, appendix C.4). One of TLS 1.2 stays.
    [[nodiscard]] tls::session take() noexcept;

    /// drop: a handshake that has offered this session has failed, perhaps because of it. It is not
    /// offered again.
    void drop(tls::session const& failed) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::array<tls::session, limits::upstream_sessions_max> sessions_; // A ring.
    std::size_t next_ = 0;                                             // The place of the next one.
    std::size_t size_ = 0;
};

} // namespace cleat::app
