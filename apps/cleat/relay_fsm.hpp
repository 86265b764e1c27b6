// relay_fsm: what a two-way copy does next, decided without any I/O.
//
// Each direction has a source and a sink. Its life: bytes are read and written; a sink that is full
// stops the source (backpressure); the source's end is passed on once the last byte has left. The
// relay is done when both directions have passed their ends on, or when one side breaks.

#pragma once

#include "close_reason.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// direction names a half of the relay by where its bytes go.
enum class direction : std::uint8_t
{
    up,   ///< Client to upstream.
    down, ///< Upstream to client.
};

/// ending says how a source ended.
enum class ending : std::uint8_t
{
    clean,     ///< close_notify from a client, FIN from an upstream.
    truncated, ///< A client's FIN without close_notify.
};

/// relay_fsm decides. Its caller tells it what happened and asks what to do; the same story always
/// has the same answers.
class relay_fsm
{
public:
    /// reads: the direction's source is to be read when it is readable.
    [[nodiscard]] bool reads(direction d) const noexcept
    {
        half const& h = at(d);
        return !over_ && h.source_open && !h.sink_full;
    }

    /// flushes: the direction's sink holds bytes back and is to be flushed when it is writable.
    [[nodiscard]] bool flushes(direction d) const noexcept { return !over_ && at(d).sink_full; }

    /// passes_end: the source has ended, all its bytes have left, and the sink is to be told now.
    [[nodiscard]] bool passes_end(direction d) const noexcept
    {
        half const& h = at(d);
        return !over_ && !h.source_open && !h.sink_full && !h.end_passed;
    }

    /// lingers: the answer and its end are out. An upstream that has said all may still be sent
    /// what the client has to say.
    [[nodiscard]] bool lingers() const noexcept { return !over_ && at(direction::down).end_passed; }

    /// awaits_client: it lingers for the client alone, which may still speak or agree that it is
    /// over. While the upstream is the one that takes nothing, the client cannot do either.
    [[nodiscard]] bool awaits_client() const noexcept { return lingers() && reads(direction::up); }

    [[nodiscard]] bool over() const noexcept { return over_; }

    /// ended: the direction's source has said all.
    [[nodiscard]] bool ended(direction d) const noexcept { return !at(d).source_open; }

    /// delivers: the direction's source has said, or may still say, what its sink has not got yet.
    [[nodiscard]] bool delivers(direction d) const noexcept
    {
        return at(d).source_open || at(d).sink_full;
    }

    /// reason is why the relay is over.
    [[nodiscard]] close_reason reason() const noexcept { return reason_; }

    /// turn is how many bytes to move at most before looking around.
    [[nodiscard]] std::size_t turn(direction d) const noexcept { return at(d).turn; }

    /// is_bulk: the last turn moved so much, or left so much to flush, that others are served
    /// before the next.
    [[nodiscard]] bool is_bulk() const noexcept
    {
        return moved_ > limits::bulk_min || flushes(direction::up) || flushes(direction::down);
    }

    /// on_turn: a turn begins.
    void on_turn() noexcept { moved_ = 0; }

    /// on_moved: n bytes were read in one turn, and the sink took all of them, unless on_sink_full.
    void on_moved(direction d, std::size_t n) noexcept
    {
        half& h = at(d);
        CLEAT_ASSERT(!over_ && h.source_open);
        moved_ += n;
        if (n >= h.turn)
            h.turn = std::min(h.turn * 2, limits::turn_max);
    }

    /// on_sink_full: the sink holds bytes back. A receiver that keeps up gets longer turns, which
    /// cost less for each byte; one that does not leaves less behind in our memory each time.
    void on_sink_full(direction d) noexcept
    {
        half& h = at(d);
        h.sink_full = true;
        h.turn = std::max(h.turn / 2, limits::turn_min);
    }

    /// on_flushed: the sink has taken everything.
    void on_flushed(direction d) noexcept { at(d).sink_full = false; }

    /// on_end: the source has ended. What its sink still holds is not lost. A client that was told
    /// that all is over owes no close_notify any more.
    void on_end(direction d, ending how) noexcept
    {
        at(d).source_open = false;
        if (how == ending::truncated && !lingers())
            reason_ = close_reason::client_truncated;
    }

    /// on_end_passed: the sink was told.
    void on_end_passed(direction d) noexcept
    {
        CLEAT_ASSERT(passes_end(d));
        at(d).end_passed = true;
        over_ = at(direction::up).end_passed && at(direction::down).end_passed;
    }

    /// on_upstream_deaf: the upstream takes no more, but what it has said may still be read: an
    /// answer to a request that it did not want to hear to its end. The client is read on, though
    /// for nothing: many read no answer before they have sent all, and closing on unread bytes
    /// would be an RST, which can destroy the answer.
    void on_upstream_deaf() noexcept
    {
        at(direction::up).sink_full = false;
        deaf_ = true;
    }

    /// deaf: see on_upstream_deaf. What is read from the client is to be dropped.
    [[nodiscard]] bool deaf() const noexcept { return deaf_; }

    /// on_failure: nothing more can be moved. A client that hangs up after all was said did no
    /// harm.
    void on_failure(close_reason why) noexcept
    {
        if (!(lingers() && why == close_reason::client_reset))
            reason_ = why;
        over_ = true;
    }

private:
    struct half
    {
        std::size_t turn = limits::turn_min;
        bool source_open = true;
        bool sink_full = false;
        bool end_passed = false;
    };

    [[nodiscard]] half& at(direction d) noexcept { return halves_[static_cast<std::size_t>(d)]; }
    [[nodiscard]] half const& at(direction d) const noexcept
    {
        return halves_[static_cast<std::size_t>(d)];
    }

    std::array<half, 2> halves_;
    std::size_t moved_ = 0; // In this turn.
    close_reason reason_ = close_reason::done;
    bool deaf_ = false;
    bool over_ = false;
};

} // namespace cleat::app
