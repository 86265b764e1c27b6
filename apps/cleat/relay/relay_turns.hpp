// relay_turns: the system calls of a relay, as relay_fsm decides them.

#pragma once

#include "relay/client_end.hpp"
#include "relay/relay_deadlines.hpp"
#include "relay/relay_fsm.hpp"
#include "worker/byte_counts.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace cleat::app {

/// relay_turns runs the turns of one connection, and reports their results to its machine. A turn
/// moves as much as it can in each direction, through the thread's scratch blocks: one recv, all
/// its records through TLS, one send. The upstream is an upstream_side or a tls_upstream.
template <class Upstream>
class relay_turns
{
public:
    relay_turns(
        client_end client, Upstream& upstream, relay_deadlines deadlines,
        byte_counts& traffic) noexcept;
    relay_turns(relay_turns&&) = delete;

    [[nodiscard]] relay_fsm const& fsm() const noexcept { return fsm_; }

    /// take takes one turn.
    void take() noexcept;

    /// begin_wait returns the deadline to set for the next wait (see relay_fsm::on_wait).
    [[nodiscard]] std::optional<std::chrono::milliseconds> begin_wait() noexcept;

    /// client_interest, upstream_interest: the events to wait for.
    [[nodiscard]] net::interest client_interest() const noexcept;
    [[nodiscard]] net::interest upstream_interest() const noexcept;

    /// on_interrupted: the wait ended before such an event, by its deadline or for another reason.
    void on_interrupted(error_code why) noexcept;

    /// error is the error that broke a side; none after a clean end.
    [[nodiscard]] error_code error() const noexcept { return error_; }

private:
    [[nodiscard]] std::size_t turn_max() const noexcept;
    void move_up() noexcept;
    void send_up(std::span<std::byte const> bytes) noexcept;
    void fail_sending_up(error_code why) noexcept;
    void drop_upload(error_code why) noexcept;
    void move_down() noexcept;
    void take_answer(std::span<std::byte const> block, net::progress const& read) noexcept;
    void write_down(std::span<std::byte const> bytes, bool last, std::size_t on_wire) noexcept;
    void on_written_down(net::progress const& written, std::size_t on_wire, bool last) noexcept;
    [[nodiscard]] bool splices(direction d) noexcept;
    void splice_up() noexcept;
    void splice_down() noexcept;
    void flush_up() noexcept;
    void flush_down() noexcept;
    void pass_end_up() noexcept;
    [[nodiscard]] bool closes_send() noexcept;
    void pass_end_down() noexcept;
    void notice_breaks() noexcept;
    void fail_client(error_code why) noexcept;
    void fail_upstream(error_code why) noexcept;

    client_end client_;
    Upstream& upstream_;
    byte_counts& traffic_;
    relay_fsm fsm_;
    error_code error_;
    bool is_unsent_bounded_ = false; // In the client's socket, because memory is short.
};

} // namespace cleat::app
