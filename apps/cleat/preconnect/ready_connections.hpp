// ready_connections: connections to the servers of an upstream that a worker makes before clients
// need them.

#pragma once

#include "preconnect/retry_pace.hpp"
#include "upstream/upstream_servers.hpp"
#include "upstream_tls/tls_upstream.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace cleat::app {

/// taken_connection is one that was ready. Its taker releases the addresses.
struct taken_connection
{
    std::optional<net::socket> socket; ///< Set unless `tls` is.
    std::optional<tls_upstream> tls;   ///< Its handshake has ended.
    server_addresses* addresses;       ///< Held.
    std::size_t position = 0;          ///< Of its address, in their order,
    bool second_first = false;         ///< or in the other one: see server_addresses.
};

/// ready_connections keeps as many connections to each server of an upstream as the plan's
/// preconnect_rule says. With TLS their handshakes have ended, unless the bytes of a client come
/// before TLS, or its protocol is offered by ALPN: then they are connections of TCP.
///
/// A server that does not serve, that the worker has left out, or that is full has none. A
/// connection that the server closes, or that has been idle for the rule's time, is replaced; after
/// a failure there is a pause. A failure does not count against the server: its clients'
/// connections do.
///
/// It belongs to its worker's thread, and to an upstream that outlives it. It outlives its
/// connections, which end with `end` or with the worker.
class ready_connections : net::task_node
{
public:
    explicit ready_connections(upstream_servers& upstream);
    ready_connections(ready_connections&&) = delete;
    ~ready_connections();

    /// are_of_tls: their handshakes have ended.
    [[nodiscard]] bool are_of_tls() const noexcept { return is_tls_; }

    /// take is a connection that is ready, if there is one. Another one is made in a later turn of
    /// the worker.
    [[nodiscard]] std::optional<taken_connection> take(std::size_t server) noexcept;

    /// drop ends the ready connections to a server whose addresses have changed.
    void drop(std::size_t server) noexcept;

    /// make_room ends the ready connections for which the server has no room any more.
    void make_room(std::size_t server) noexcept;

    /// look: servers may have changed. Connections are made or ended in a later turn.
    void look() noexcept;

    /// end ends all, and makes no more.
    void end() noexcept;

    /// count is how many there are to a server, also those that are not ready yet.
    [[nodiscard]] std::size_t count(std::size_t server) const noexcept
    {
        return places_[server].all.size();
    }

private:
    class connection;

    // The connections to one server. The deadline is the end of its pause.
    struct place : deadline
    {
        place(ready_connections& all_places, std::size_t maximum);

        ready_connections& owner;
        std::vector<connection*> all; // The newest last. Its room is reserved.
        retry_pace pace;
        std::size_t address = 0; // Of the next attempt: the following one after each failure.
    };

    static net::detached make(ready_connections& self, std::size_t server);
    static void on_look(net::task_node& node, bool run) noexcept;
    [[nodiscard]] std::size_t wanted(std::size_t server) const noexcept;
    void fill(std::size_t server) noexcept;
    void failed(std::size_t server, std::string_view why) noexcept;
    void succeeded(std::size_t server) noexcept;
    void log(std::string_view event, std::size_t server, std::string_view why) noexcept;

    upstream_servers& upstream_;
    bool is_tls_;
    bool is_queued_ = false; // on_look is in the worker's queue.
    bool has_ended_ = false;
    std::deque<place> places_; // By server.
};

} // namespace cleat::app
