// client_connection: one connection of a load: its socket, its TLS and the sessions that it gets.

#pragma once

#include "generate/attempt.hpp"
#include "generate/session_pool.hpp"
#include "generate/worker_load.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/session.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace cleat::bench {

/// client_connection gives its sessions to its identity's pool when it ends.
struct client_connection
{
    client_connection(net::worker& worker, unique_fd fd, client_identity& client);
    client_connection(client_connection&&) = delete;
    ~client_connection();

    /// has_ticket: the server has given a session on this connection.
    [[nodiscard]] bool has_ticket();

    /// reading and writing are what to wait for.
    [[nodiscard]] net::interest reading() const noexcept { return {&socket.entry(), true, false}; }
    [[nodiscard]] net::interest writing() const noexcept { return {&socket.entry(), false, true}; }

    /// receive reads once, at most a turn. The end that it finds after a send has found a reset is
    /// that reset.
    net::progress receive(std::span<std::byte> block) noexcept;

    /// send writes what the socket has not taken yet, and then the next bytes of a peer (a machine
    /// with make, as websocket_peer), at most a piece. `made` is called with their number before
    /// they are written.
    template <class Peer, class Count>
    net::progress send(Peer& peer, Count const& made);

    /// failure_of_send is the error of a write. A reset is none yet: receive finds what came before
    /// it, and then the reset. It need not wait for the socket's event, which may come later.
    [[nodiscard]] error_code failure_of_send(net::progress const& sent) noexcept;

    net::socket socket;
    net::channel channel;
    client_identity& identity;
    std::optional<session_pool::held> offered;
    std::vector<tls::session> given;
    error_code reset_found; // By a send.
};

template <class Peer, class Count>
net::progress client_connection::send(Peer& peer, Count const& made)
{
    // Frames are made and encrypted in pieces that stay in a core's cache.
    constexpr std::size_t piece_max = std::size_t{128} * 1024;
    net::readiness::entry& entry = socket.entry();
    if (channel.unsent()) {
        net::progress const p = channel.flush(entry);
        if (p.error || channel.unsent())
            return p;
    }
    std::span<std::byte> const block =
        net::scratch::of_this_thread().plaintext().first(std::min(channel.write_max(), piece_max));
    std::size_t const bytes = peer.make(block);
    if (bytes == 0)
        return {};
    made(bytes);
    net::channel::piece const pieces[] = {block.first(bytes)};
    return channel.write(entry, pieces); // It takes all of them: no more than write_max.
}

/// establish connects and shakes hands. False: it failed, and the attempt has counted that. `early`
/// is how much of the request the server has taken as early data.
net::task<bool> establish(
    net::interrupt& interrupt, worker_load& load, attempt& account,
    std::optional<client_connection>& made, std::span<std::byte const> request, std::size_t& early);

} // namespace cleat::bench
