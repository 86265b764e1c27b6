// session_cache: the sessions that a client can resume, by server.
//
//     tls::context_spec spec;
//     spec.role = tls::role::client;
//     spec.sessions = std::make_shared<tls::session_cache>();
//     tls::context context{spec};
//     ...
//     stream.set_server("example.org", 443); // Offers a session, and keeps those that come.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/server_sessions.hpp>
#include <cleat/tls/session.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cleat::tls {

/// session_key says at which server, and under which rules, a session resumes.
struct session_key
{
    std::string host; ///< A name, or an IP address, as it was verified.
    /// The port of the server.
    std::uint16_t port = 0;
    std::string alpn; ///< The protocols that the client offers, in its order, with commas.
    /// The rules under which the server was verified: a hash of context_spec::session_scope and of
    /// its verification. A resumed session is not verified again.
    std::string scope;

    friend auto operator<=>(session_key const&, session_key const&) = default;
};

/// session_cache keeps the newest sessions of the servers that were used last: of at most
/// `servers_max` servers limits::server_sessions_max each. It has no lock: it belongs to one
/// thread, as do the contexts that share it.
///
/// A context with context_spec::sessions uses it by itself, for each engine or stream that was
/// given its server. The functions are for clients that keep the sessions in another way.
class session_cache
{
public:
    /// session_cache of at most `servers_max` servers.
    explicit session_cache(std::size_t servers_max = limits::cached_servers_max);
    session_cache(session_cache&&) = delete;

    /// keep adds a session. Where there is no room, the server that was not used for the longest
    /// time gives way. Without memory the session is dropped.
    void keep(session_key const& key, session issued) noexcept;

    /// take is the server's newest session, or empty: see server_sessions.
    [[nodiscard]] session take(session_key const& key) noexcept;

    /// drop: a handshake that has offered this session has failed. It is not offered again.
    void drop(session_key const& key, session const& failed) noexcept;

    /// clear drops all sessions.
    void clear() noexcept;

    /// size is the number of sessions of all servers.
    [[nodiscard]] std::size_t size() const noexcept;

    /// save is the content as bytes, for a file that a later process loads. They are secret: with
    /// them recorded connections of TLS 1.2 can be decrypted. Throws std::bad_alloc.
    [[nodiscard]] std::vector<std::byte> save() const;

    /// load adds the sessions of a save by the same TLS library. An error,
    /// errc::bad_message: the bytes are no such save, and nothing was added. Throws std::bad_alloc.
    [[nodiscard]] error_code load(std::span<std::byte const> saved);

private:
    struct server;
    using server_list = std::list<server>;

    [[nodiscard]] server* find(session_key const& key) noexcept;
    void add(session_key const& key, session issued);

    std::size_t servers_max_;
    server_list servers_; // The one that was used last is the first.
    std::map<session_key, server_list::iterator> by_key_;
};

struct session_cache::server
{
    session_key key;
    server_sessions sessions;
};

} // namespace cleat::tls
