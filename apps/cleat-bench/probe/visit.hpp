// visit: one connection to a probed server, with a socket, a channel and poll, without an event
// loop.

#pragma once

#include "generate/outcome.hpp"
#include "probe/failure.hpp"

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

/// visit_options is what a connection offers and waits for.
struct visit_options
{
    tls::context const* context = nullptr;
    tls::session const* offered_session = nullptr;
    std::size_t sessions_wanted = 0; ///< Wait for this number of sessions, or until no more come.
    bool stays_open = false;         ///< The visit does not close the connection.
};

/// visit is what a connection found out.
struct visit
{
    bool established = false;
    probed_failure failure; ///< `connected` and `first_bytes` are also set without a failure.
    error_code error;
    stage reached = stage::connect;
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

    /// refused: the server ended the handshake, with an alert or by closing the connection.
    [[nodiscard]] bool refused() const noexcept;
};

/// connection makes one visit. It blocks.
class connection
{
public:
    /// `timeout` is for TCP and the handshake together. `address` and `options` outlive it.
    connection(
        net::address const& address, visit_options const& options,
        std::chrono::milliseconds timeout);

    /// run connects and shakes hands. If sessions are wanted, it sends the harmless `request` and
    /// waits for them: at most `ticket_wait` and two round trips if nothing comes. Call it once.
    [[nodiscard]] visit run(std::chrono::milliseconds ticket_wait, std::string_view request);

    /// engine stays valid after the visit.
    [[nodiscard]] tls::engine const& engine() const noexcept { return channel_.engine(); }

    /// socket is the connection's, for a visit that stays open.
    [[nodiscard]] int socket() const noexcept { return fd_.get(); }

private:
    using clock = std::chrono::steady_clock;

    visit failed(error_code ec);
    error_code connect();
    error_code shake_hands();
    void keep_first_bytes();
    void read_agreement();
    void wait_for_sessions(std::chrono::milliseconds ticket_wait, std::string_view request);
    void keep_sessions();

    net::address const& address_;
    visit_options const& options_;
    clock::time_point start_;
    clock::time_point deadline_;
    clock::time_point connected_;
    unique_fd fd_;
    net::channel channel_;
    visit result_;
};

/// first_answer sends `request` without TLS and gives the first bytes of the answer: `enough` or
/// more, at most 64; fewer if the server sends no more within `timeout`.
[[nodiscard]] std::string first_answer(
    net::address const& address, std::string_view request, std::size_t enough,
    std::chrono::milliseconds timeout);

/// plain_answer is the answer to a request without TLS. It is for a server that did not answer a
/// ClientHello: a plain HTTP server may take that for the start of a long line. Empty if there is
/// no answer, or status 400, with which a TLS server answers plain HTTP.
[[nodiscard]] std::string plain_answer(
    net::address const& address, std::string_view request, std::chrono::milliseconds timeout);

} // namespace cleat::bench
