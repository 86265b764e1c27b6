// handshake_line: the full handshakes that wait for a worker's time, while more connections come
// than it can serve.

#pragma once

#include "overload/claim_credit.hpp"
#include "overload/session_claim.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/repeated_task.hpp>
#include <cleat/net/worker.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// handshake_line belongs to its worker's thread, and outlives its connections.
///
/// A full handshake costs several times as much as one that resumes a session. While the kernel's
/// queue is short, handshakes are served as they come, and nothing here is used. While it is long
/// (limits::crowd_min), a worker takes all connections and reads their ClientHello: clients that
/// resume go ahead, and the others wait here, in their order, with priority::signature. A new one
/// that would wait for too long is shed before anything is signed for it.
class handshake_line
{
public:
    explicit handshake_line(net::worker& worker);
    handshake_line(handshake_line&&) = delete;
    ~handshake_line() = default;

    /// note_crowd: in this pass of the worker's loop many connections wait in the kernel's queue.
    void note_crowd() noexcept { crowded_before_ = worker_.passes() + 2; }

    /// is_crowded: a full handshake that begins now joins the line first.
    [[nodiscard]] bool is_crowded() const noexcept
    {
        return first_ != nullptr || worker_.passes() < crowded_before_;
    }

    /// is_full: `most` handshakes wait, or the first has waited for longer than `longest`, or one
    /// that joins now would. Its wait is estimated from the wait of the last handshake that had at
    /// least limits::line_sample_min others before it.
    [[nodiscard]] bool is_full(std::size_t most, std::chrono::milliseconds longest) const noexcept;

    /// size is how many wait.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// claims is the credit of clients that go ahead, by the kind of their claim; null for
    /// session_claim::none. Each kind has its own: false claims to sessions of other workers, which
    /// any client can make up, take nothing from those with a ticket.
    [[nodiscard]] claim_credit* claims(session_claim claim) noexcept
    {
        if (claim == session_claim::none)
            return nullptr;
        return claim == session_claim::here ? &claims_here_ : &claims_elsewhere_;
    }

    class turn;

private:
    void serve_first() noexcept;
    void note_wait(turn const& served) noexcept;
    void leave(turn& t) noexcept;

    net::worker& worker_;
    net::repeated_task service_;
    turn* first_ = nullptr;
    turn* last_ = nullptr;
    std::size_t size_ = 0;
    net::worker::clock::duration time_for_each_{}; // See note_wait.
    std::uint64_t crowded_before_ = 0;             // A pass of the worker.
    claim_credit claims_here_;
    claim_credit claims_elsewhere_;
};

/// handshake_line::turn: a full handshake joins the line, and waits until the worker has time for
/// it. The result is the reason of the interrupt, where that has ended the wait.
class [[nodiscard]] handshake_line::turn : net::waiter
{
public:
    turn(handshake_line& line, net::interrupt& interrupt) noexcept;
    turn(turn&&) = delete;
    ~turn() = default;

    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> caller) noexcept;
    [[nodiscard]] error_code await_resume() const noexcept { return error_; }

private:
    friend class handshake_line;

    handshake_line& line_;
    net::interrupt& interrupt_;
    net::worker::clock::time_point since_{};
    std::size_t ahead_ = 0; // When it joined.
    std::coroutine_handle<> caller_;
    error_code error_;
    turn* previous_ = nullptr;
    turn* next_ = nullptr;
};

} // namespace cleat::app
