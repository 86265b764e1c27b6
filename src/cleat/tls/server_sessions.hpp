// server_sessions: the TLS sessions that a client can resume at one server.

#pragma once

#include <cleat/core/limits.hpp>
#include <cleat/tls/session.hpp>

#include <array>
#include <cstddef>

namespace cleat::tls {

/// server_sessions keeps the newest sessions of a server, at most limits::server_sessions_max. It
/// belongs to one thread, and to one set of rules: a server's certificate is not verified again
/// when a session resumes, so a session must not outlive the rules under which the certificate was
/// verified.
class server_sessions
{
public:
    /// keep adds a session. The oldest gives way where there is no room.
    void keep(session issued) noexcept;

    /// take is the newest session; empty: there is none. It takes a session of TLS 1.3 out, because
    /// that is for one connection (RFC 8446, appendix C.4). A session of TLS 1.2 stays.
    [[nodiscard]] session take() noexcept;

    /// drop: a handshake that has offered this session has failed, perhaps because of it. It is not
    /// offered again.
    void drop(session const& failed) noexcept;

    /// by_age is the session of this age, without taking it out; 0 is the newest of all.
    [[nodiscard]] session const& by_age(std::size_t age) const noexcept;

    /// size is the number of its sessions.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::array<session, limits::server_sessions_max> sessions_; // A ring.
    std::size_t next_ = 0;                                      // The place of the next one.
    std::size_t size_ = 0;
};

} // namespace cleat::tls
