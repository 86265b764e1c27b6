// upstream_choice: the servers that one connection tries, and the one that it has.

#pragma once

#include "preconnect/ready_connections.hpp"
#include "upstream_tls/tls_upstream.hpp"
#include "worker/worker_upstream.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cleat::app {

/// upstream_choice is one connection's. As long as it lives, the connection counts at its server.
class upstream_choice
{
public:
    /// `client` is a client_key. The client's socket outlives the choice; -1: there is none.
    upstream_choice(
        worker_upstream& upstream, std::uint64_t client, int client_socket = -1) noexcept
        : upstream_{upstream}, client_{client}, client_socket_{client_socket}
    {
    }
    upstream_choice(upstream_choice&&) = delete;
    ~upstream_choice();

    /// next is the address to try first, or after the one that has failed: those of a server in
    /// their order, from the one that has answered last, and then those of the next server. It
    /// stays in place until the next call. Null: all were tried.
    [[nodiscard]] net::address const* next();

    /// rival is the address that may be tried beside the present one: the one that next would
    /// return, where it is the same server's and of the other family. Null: there is none.
    /// take_rival makes it the present one, also if it has failed: see race.
    [[nodiscard]] net::address const* rival() const noexcept;
    void take_rival() noexcept { ++address_; }

    /// lacks_port: next has returned null, because no local port was free for some servers, or
    /// because other connections wait for a port already and none was tried. The connection then
    /// waits in `ports`. When it is the first there, it calls start_again, which tries these
    /// servers once more, as next and start do.
    [[nodiscard]] bool lacks_port() const noexcept { return !without_port_.empty() || is_behind(); }
    [[nodiscard]] connect_queue& ports() noexcept { return upstream_.ports(); }
    void awaits_port() noexcept { upstream_.awaits_port(); }
    [[nodiscard]] result<net::socket> start_again();

    /// has_server: there is a present server, which next has found.
    [[nodiscard]] bool has_server() const noexcept { return addresses_ != nullptr; }

    /// waits: the server of the address has as many connections as it may have. The connection
    /// waits in the server's line. When it is the first there, it calls admit: true ends the wait.
    /// leaves_line: the server gets no new connections any more, or another server is the better
    /// choice now; pass_over then makes next go on with another server.
    [[nodiscard]] bool waits() const noexcept { return waits_; }
    [[nodiscard]] bool admit() noexcept;
    [[nodiscard]] bool leaves_line() const noexcept;
    void pass_over() noexcept { address_ = static_cast<std::uint32_t>(addresses_->all().size()); }

    /// client_has_left: the client's connection was reset when look_at_client was called last. A
    /// client that has only ended its own stream waits for an answer.
    [[nodiscard]] bool look_at_client() noexcept;
    [[nodiscard]] bool client_has_left() const noexcept { return client_has_left_; }

    /// others is how many addresses are left to try, at least: the rest of the present server's,
    /// and one for each server that was not tried.
    [[nodiscard]] std::size_t others() const noexcept;

    /// failed: the address did not accept. An error of this machine's, such as no descriptor or no
    /// local port that is free, is not counted against the server.
    void failed(error_code why);

    /// answered: the address has accepted.
    void answered();

    /// line and queue are the present server's.
    [[nodiscard]] connect_queue& line() noexcept { return upstream_.line(server_).queue; }
    [[nodiscard]] connect_queue& queue() noexcept { return upstream_.queue(server_); }

    /// address is the present one: that which next returned last, or its rival.
    [[nodiscard]] net::address const& address() const noexcept
    {
        return addresses_->in_order(address_ - 1, prefers_second_family_, leading_);
    }

    /// start makes a socket that is connecting to the address: see source_addresses. Where the
    /// server has a connection ready (see ready_connections), it takes that one, whose address is
    /// then the present one. If a ready connection turns out closed, call failed: after next, start
    /// makes a new connection to the server, without counting a failure.
    [[nodiscard]] result<net::socket> start();
    [[nodiscard]] result<net::socket> start_rival();

    /// take_tls is a connection that is ready with TLS, if the server has one: before start.
    [[nodiscard]] std::optional<tls_upstream> take_tls();

    /// tls is the upstream's, or null. tls_name, server_number: those of the server that was tried
    /// last.
    [[nodiscard]] upstream_tls* tls() noexcept { return upstream_.tls(); }
    [[nodiscard]] std::string const& tls_name() const noexcept { return server().tls_name; }
    [[nodiscard]] std::size_t server_number() const noexcept { return server_; }

    /// name is that of the server that was tried last, or of the upstream before that.
    [[nodiscard]] std::string const& name() const noexcept;

private:
    void enter_server() noexcept;
    void leave_server() noexcept;
    [[nodiscard]] std::optional<taken_connection> take_ready();
    [[nodiscard]] result<net::socket> connect_to(net::address const& place);

    // Others wait for a port already, and go first.
    [[nodiscard]] bool is_behind() const noexcept
    {
        return tried_.empty() && !is_first_ && !upstream_.ports().empty();
    }

    [[nodiscard]] server_plan const& server() const noexcept
    {
        return upstream_.plan().servers[server_];
    }

    worker_upstream& upstream_;
    std::uint64_t client_;
    int client_socket_;
    server_set tried_;                      // With the present one.
    server_set without_port_;               // Of these, those to which no local port was free.
    std::uint32_t server_ = 0;              // Of those in tried_, the last one.
    std::uint32_t address_ = 0;             // The number of the next one to try.
    leading_addresses leading_{};           // Of the server's, when the connection came to it.
    server_addresses* addresses_ = nullptr; // It holds those of the server that it has, if any.
    bool is_trial_ = false;                 // It tries whether the server is back.
    bool has_failed_ = false;               // By the server's fault, at one of its addresses.
    bool is_connected_ = false;
    bool client_has_left_ = false;
    bool waits_ = false;
    bool prefers_second_family_ = false; // See family_memory.
    bool is_first_ = false;              // Of those that wait for a port.
    bool has_taken_ = false;             // A connection that was ready.
    bool skips_ready_ = false;           // The one that it took has failed.
};

} // namespace cleat::app
