// visit: one connection to a server that is probed, with nothing but a socket, a channel and poll.

#pragma once

#include "generate/outcome.hpp"
#include "probe/probe.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/peer_facts.hpp>
#include <cleat/tls/session.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// wish is what a connection is for.
struct wish
{
    tls::context const* use = nullptr;
    tls::session const* offered = nullptr;
    std::size_t sessions_wanted = 0; ///< Stay until there are so many, or no more come.
};

/// visit is what a connection told.
struct visit
{
    bool established = false;
    probed_failure failure; ///< Its facts are there without a failure, too.
    error_code error;
    stage where = stage::connect;
    std::chrono::nanoseconds tcp{};
    std::chrono::nanoseconds tls{};
    std::string version;
    std::string suite;
    std::string group;
    std::string scheme;
    std::string alpn;
    bool resumed = false;
    std::vector<tls::shown_certificate> chain;
    std::vector<tls::session> sessions;
    bool certificate_required = false;

    /// refused: TLS was spoken up to the refusal, or the connection cut in its place.
    [[nodiscard]] bool refused() const noexcept;
};

/// connection is one visit while it lasts. It blocks.
class connection
{
public:
    /// `timeout` is for TCP and the handshake together. `to` and `for_what` outlive it.
    connection(net::address const& to, wish const& for_what, std::chrono::milliseconds timeout);

    /// take connects, shakes hands, and where sessions are wanted sends `request`, something
    /// harmless, and waits for them: for `ticket_wait` and two round trips where nothing comes.
    /// Once only.
    [[nodiscard]] visit take(std::chrono::milliseconds ticket_wait, std::string_view request);

    /// engine is there after the visit, too.
    [[nodiscard]] tls::engine const& engine() const noexcept { return channel_.engine(); }

private:
    using clock = std::chrono::steady_clock;

    visit failed(error_code ec);
    error_code connect();
    error_code shake();
    void keep_first_bytes();
    void read_agreement();
    void stay(std::chrono::milliseconds ticket_wait, std::string_view request);
    void keep_sessions();

    net::address const& to_;
    wish const& wish_;
    clock::time_point began_;
    clock::time_point until_;
    clock::time_point connected_;
    unique_fd fd_;
    net::channel channel_;
    visit told_;
};

/// first_answer is what a server says first to `request`, which is sent as it is: as much as comes
/// until there are `enough` bytes, at most 64 of them. Empty where it says nothing within
/// `timeout`.
[[nodiscard]] std::string first_answer(
    net::address const& to, std::string_view request, std::size_t enough,
    std::chrono::milliseconds timeout);

/// plain_answer is what a server says to a plain request that said nothing, or ended, when it was
/// sent a ClientHello: a server of plain HTTP may take that for the start of a long line. Empty
/// where it is nothing, and where it is the answer of a TLS server to a client that forgot TLS.
[[nodiscard]] std::string plain_answer(
    net::address const& to, std::string_view request, std::chrono::milliseconds timeout);

} // namespace cleat::bench
