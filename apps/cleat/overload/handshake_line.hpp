// handshake_line: the full handshakes that wait for a worker's time, while more connections come
// than it can serve.

#pragma once

#include "overload/claim_credit.hpp"
#include "overload/cost_share.hpp"
#include "overload/session_claim.hpp"
#include "overload/signature_cost.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/repeated_task.hpp>
#include <cleat/net/worker.hpp>

#include <array>
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
/// resume go ahead, and the others wait here, with priority::signature. Handshakes with the same
/// signature_cost keep their order; cost_share decides between the two costs. A new one that would
/// wait for too long is shed before anything is signed for it.
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
        return size() != 0 || worker_.passes() < crowded_before_;
    }

    /// is_full: a handshake with this cost may not join. `most` handshakes wait, and those with
    /// this cost have their part of the limits::line_reserve; or the first of these has waited for
    /// longer than `longest`, or one that joins now would. Its wait is estimated from the wait of
    /// the last handshake with this cost that had at least limits::line_sample_min of them before
    /// it.
    [[nodiscard]] bool is_full(
        signature_cost cost, std::size_t most, std::chrono::milliseconds longest) const noexcept;

    /// size is how many wait.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return queue_of(signature_cost::low).size + queue_of(signature_cost::high).size;
    }

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
    // Those of one cost, in their order.
    struct queue
    {
        turn* first = nullptr;
        turn* last = nullptr;
        std::size_t size = 0;
        net::worker::clock::duration time_for_each{}; // See note_wait.
    };

    [[nodiscard]] queue& queue_of(signature_cost cost) noexcept
    {
        return queues_[static_cast<std::size_t>(cost)];
    }
    [[nodiscard]] queue const& queue_of(signature_cost cost) const noexcept
    {
        return queues_[static_cast<std::size_t>(cost)];
    }
    [[nodiscard]] signature_cost next_cost() const noexcept;
    void serve_first() noexcept;
    void serve(signature_cost cost) noexcept;
    void note_wait(turn const& served) noexcept;
    void leave(turn& t) noexcept;

    net::worker& worker_;
    net::repeated_task service_;
    std::array<queue, signature_cost_count> queues_{};
    cost_share share_;
    std::uint64_t crowded_before_ = 0; // A pass of the worker.
    claim_credit claims_here_;
    claim_credit claims_elsewhere_;
};

/// handshake_line::turn: a full handshake joins the line, and waits until the worker has time for
/// it. The result is the reason of the interrupt, where that has ended the wait. The caller goes on
/// with the handshake, up to its next wait, when it is resumed: that time is what it costs.
class [[nodiscard]] handshake_line::turn : net::waiter
{
public:
    turn(handshake_line& line, net::interrupt& interrupt, signature_cost cost) noexcept;
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
    std::size_t ahead_ = 0; // With the same cost, when it joined.
    std::coroutine_handle<> caller_;
    error_code error_;
    turn* previous_ = nullptr;
    turn* next_ = nullptr;
    signature_cost cost_;
};

} // namespace cleat::app
