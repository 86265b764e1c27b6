// session_pool: which connection resumes which session. Decisions only.

#pragma once

#include "generate/load_spec.hpp"

#include <cleat/tls/session.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <vector>

namespace cleat::bench {

/// session_pool keeps the sessions of one worker for one name, and offers them as `reuse` says.
///
/// A TLS 1.3 ticket serves one connection, which brings the next one with it; a TLS 1.2 session
/// serves many. `uses` follows the chain, so "4 connections a session" means the same in both.
class session_pool
{
public:
    static constexpr std::size_t size_max = 1000; ///< The oldest go first.

    session_pool(reuse policy, std::uint64_t seed) : policy_{policy}, random_{seed} {}

    /// held is a session with the number of connections that its chain has served.
    struct held
    {
        tls::session session;
        unsigned uses = 0;
    };

    /// take chooses for a new connection: a session to offer, or nothing for a full handshake.
    [[nodiscard]] std::optional<held> take();

    /// give_back reports a connection: the session that it offered, if any, whether the server
    /// resumed it, and the sessions that the server gave.
    void give_back(std::optional<held> offered, bool resumed, std::vector<tls::session> given);

    [[nodiscard]] std::size_t size() const noexcept { return pool_.size(); }

private:
    void keep(held session);

    reuse policy_;
    std::deque<held> pool_;
    std::mt19937_64 random_;
};

} // namespace cleat::bench
