// relay_fsm: what a two-way copy does next, decided without any I/O.
//
// Each direction has a source and a sink. Bytes are read from the source and written to the sink. A
// sink that is full stops its source (backpressure). The source's end is passed on once the last
// byte has left. The relay is over when both directions have passed their ends on, when one side
// breaks, or when a deadline passes. The machine also decides which deadline a wait has, and how
// each connection is closed.
//
// The lingering close: once the answer and its end are out, the relay waits for the client to close
// first. The close_notify has announced the end, so most clients close at once; our FIN then goes
// with the closing, for one system call and one packet less. A client that does not close within
// limits::fin_delay gets the FIN by itself. After the linger timeout it is closed, unless it is
// still taking bytes that the kernel holds for it.

#pragma once

#include "counts/close_reason.hpp"
#include "relay/last_bytes.hpp"
#include "relay/relay_deadlines.hpp"

#include <cleat/core/adaptive_turn.hpp>
#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cleat::app {

/// direction names a half of the relay by where its bytes go.
enum class direction : std::uint8_t
{
    up,   ///< Client to upstream.
    down, ///< Upstream to client.
};

/// ending is how a source ended.
enum class ending : std::uint8_t
{
    clean,     ///< close_notify from a client, FIN from an upstream.
    truncated, ///< A client's FIN without close_notify.
};

/// side names a peer of the relay.
enum class side : std::uint8_t
{
    client,
    upstream,
};

/// after_break is what to do when a side breaks while it is neither read nor written.
enum class after_break : std::uint8_t
{
    fail,        ///< End the connection.
    deliver,     ///< Bytes that it sent before go on to the other side.
    drop_upload, ///< The upstream's answer is complete: only the upload is lost.
};

/// answer_end says how the end of an answer is found after a send to the upstream has failed.
enum class answer_end : std::uint8_t
{
    readable, ///< Reading the socket shows it.
    lost,     ///< The send took the socket's error: a read gives 0 without a FIN.
};

/// closing is how the connection to one side is closed when the relay is over.
enum class closing : std::uint8_t
{
    fin,        ///< The kernel sends FIN after all bytes.
    last_bytes, ///< The bytes in this machine's kernel first, then FIN; an RST where there is none.
    last_bytes_and_reset, ///< The same, with an RST in any case.
    reset,                ///< RST: the side must not take a part for the whole.
};

/// relay_fsm decides. Its caller reports events with the on_ functions and asks what to do next;
/// the same events always give the same answers.
class relay_fsm
{
public:
    explicit relay_fsm(relay_deadlines deadlines = {}) noexcept : deadlines_{deadlines} {}

    /// reset_cut_answers: an answer that is cut ends with an RST, because the client speaks
    /// plaintext: it would take a FIN for the end of a whole answer. With TLS a FIN without
    /// close_notify shows the cut.
    void reset_cut_answers() noexcept { resets_cut_answers_ = true; }

    /// reads: the direction's source is to be read when it is readable.
    [[nodiscard]] bool reads(direction d) const noexcept
    {
        half const& h = at(d);
        return !over_ && h.source_open && !h.sink_full;
    }

    /// flushes: the direction's sink holds bytes, and is to be flushed when it is writable.
    [[nodiscard]] bool flushes(direction d) const noexcept { return !over_ && at(d).sink_full; }

    /// passes_end: the source has ended and all its bytes have left: pass the end to the sink now.
    [[nodiscard]] bool passes_end(direction d) const noexcept
    {
        half const& h = at(d);
        return !over_ && !h.source_open && !h.sink_full && !h.end_passed;
    }

    /// lingers: the answer and its end are out. The client may still send to the upstream.
    [[nodiscard]] bool lingers() const noexcept { return !over_ && at(direction::down).end_passed; }

    /// awaits_client: it lingers, and only the client can go on, by sending or closing. While the
    /// upstream's socket is full the client can do neither.
    [[nodiscard]] bool awaits_client() const noexcept { return lingers() && reads(direction::up); }

    [[nodiscard]] bool over() const noexcept { return over_; }

    /// ended: the direction's source has ended.
    [[nodiscard]] bool ended(direction d) const noexcept { return !at(d).source_open; }

    /// delivers: the direction's source is open, or its sink has not got all bytes yet.
    [[nodiscard]] bool delivers(direction d) const noexcept
    {
        return at(d).source_open || at(d).sink_full;
    }

    /// reason is why the relay is over.
    [[nodiscard]] close_reason reason() const noexcept { return reason_; }

    /// turn is how many bytes to move at most before the other direction has its turn.
    [[nodiscard]] std::size_t turn(direction d) const noexcept { return at(d).turn.size(); }

    /// splices: between two sockets without TLS, this direction's bytes go through a pipe. It saves
    /// the copies of a transfer, and costs a short message two system calls.
    [[nodiscard]] bool splices(direction d) const noexcept
    {
        return turn(d) > limits::turn_min && !(d == direction::up && drops_upload_);
    }

    /// is_bulk: the last turn moved so much, or left so much to flush, that other connections are
    /// served before the next.
    [[nodiscard]] bool is_bulk() const noexcept
    {
        return moved_ > limits::bulk_min || flushes(direction::up) || flushes(direction::down);
    }

    /// on_turn: a turn begins.
    void on_turn() noexcept { moved_ = 0; }

    /// on_moved: n bytes were read in one turn. The sink took all of them, unless on_sink_full
    /// follows.
    void on_moved(direction d, std::size_t n) noexcept
    {
        half& h = at(d);
        CLEAT_ASSERT(!over_ && h.source_open);
        moved_ += n;
        h.turn.used(n);
    }

    /// on_sink_full: the sink holds bytes. A receiver that keeps up gets longer turns, which cost
    /// less for each byte. A slow receiver gets shorter turns, so that it holds less of our
    /// memory.
    void on_sink_full(direction d) noexcept
    {
        half& h = at(d);
        h.sink_full = true;
        h.turn.shrink();
    }

    /// on_flushed: the sink has taken everything.
    void on_flushed(direction d) noexcept { at(d).sink_full = false; }

    /// on_end: the source has ended. Bytes that its sink holds are not lost. A client that already
    /// got close_notify needs to send none.
    void on_end(direction d, ending how) noexcept
    {
        at(d).source_open = false;
        upload_cut_ = upload_cut_ || how == ending::truncated;
        if (how == ending::truncated && !lingers())
            reason_ = close_reason::client_truncated;
    }

    /// on_end_passed: the end was passed to the sink.
    void on_end_passed(direction d) noexcept
    {
        CLEAT_ASSERT(passes_end(d));
        at(d).end_passed = true;
        over_ = at(direction::up).end_passed && at(direction::down).end_passed;
    }

    /// watches: the side is neither read nor written just now, so look for a break.
    [[nodiscard]] bool watches(side s) const noexcept
    {
        direction const from = s == side::client ? direction::up : direction::down;
        direction const to = s == side::client ? direction::down : direction::up;
        return !over_ && !reads(from) && !flushes(to) && !is_broken(s);
    }

    /// on_broken: a side that was watched has broken. An answer whose client is gone ends at once.
    after_break on_broken(side s) noexcept
    {
        if (s == side::client && !delivers(direction::up))
            return after_break::fail;
        broken_[static_cast<std::size_t>(s)] = true;
        if (s == side::upstream && ended(direction::down) && delivers(direction::up))
            return after_break::drop_upload;
        return after_break::deliver;
    }

    [[nodiscard]] bool is_broken(side s) const noexcept
    {
        return broken_[static_cast<std::size_t>(s)];
    }

    /// delivers_after_break: one side broke, and only bytes that it sent before are still on their
    /// way. A whole answer is not such bytes: its client gets the usual linger timeout.
    [[nodiscard]] bool delivers_after_break() const noexcept
    {
        return is_broken(side::client) || (is_broken(side::upstream) && !ended(direction::down));
    }

    /// drop_upload: the upstream takes no more bytes, but its answer may still be read: it answered
    /// before the end of the request. The client is read on and its bytes are dropped. Many clients
    /// read no answer before they have sent all, and closing on unread bytes would be an RST, which
    /// can destroy the answer.
    void drop_upload(answer_end end) noexcept
    {
        at(direction::up).sink_full = false;
        drops_upload_ = true;
        answer_end_ = end;
    }

    /// finds_answer_end: a read of 0 bytes from the upstream is the answer's end.
    [[nodiscard]] bool finds_answer_end() const noexcept
    {
        return answer_end_ == answer_end::readable;
    }

    /// upload_cut: the client's stream has ended without close_notify.
    [[nodiscard]] bool upload_cut() const noexcept { return upload_cut_; }

    /// drops_upload: bytes that are read from the client are to be dropped.
    [[nodiscard]] bool drops_upload() const noexcept { return drops_upload_; }

    /// on_failure: no more bytes can be moved, because this side failed. A client that resets after
    /// the whole answer is no failure.
    ///
    /// The other side is reset, unless the kernel still holds bytes of a whole upload or of an
    /// answer for it: an RST would destroy them. These bytes are delivered first. An upstream with
    /// a whole upload then gets FIN. A client with a cut answer gets FIN without close_notify, so
    /// it sees that the answer is cut.
    void on_failure(side s, close_reason why) noexcept;

    /// on_upload_lost: there is no memory for bytes of the upload. Both sides learn that the rest
    /// is missing.
    void on_upload_lost() noexcept;

    /// sends_fin: the client gets our FIN now, because it will not close soon: fin_delay has
    /// passed, or the client cannot go on while the upstream's socket is full.
    [[nodiscard]] bool sends_fin() const noexcept
    {
        return lingers() && !fin_sent_ && (fin_due_ || !awaits_client());
    }

    /// on_fin_sent: the FIN was sent, by itself.
    void on_fin_sent() noexcept { fin_sent_ = true; }

    /// on_wait: a wait begins. Returns the time to set as its deadline; zero: no deadline; nothing:
    /// the present deadline stays.
    [[nodiscard]] std::optional<std::chrono::milliseconds> on_wait() noexcept;

    /// asks_unacknowledged: on_timeout needs to know how many bytes the client has not
    /// acknowledged. One system call in each linger timeout: a transfer that goes on costs nothing.
    [[nodiscard]] bool asks_unacknowledged() const noexcept { return timer_ == timer::linger; }

    /// on_timeout: the deadline of the last wait has passed.
    void on_timeout(std::size_t unacknowledged = 0) noexcept;

    /// on_stop: cleat ends the connection, and not the client: a FIN would tell the upstream that
    /// the client had sent all.
    void on_stop(close_reason why) noexcept;

    /// closes says how to close the connection to this side. It is decided when the relay is over.
    [[nodiscard]] closing closes(side s) const noexcept
    {
        return closings_[static_cast<std::size_t>(s)];
    }

private:
    // The deadlines.
    enum class timer : std::uint8_t
    {
        idle,        // For the next byte.
        after_break, // For each of the last bytes of a broken side.
        fin_delay,   // For a client's close before our FIN.
        linger,      // For a client's close after our FIN.
    };

    struct half
    {
        adaptive_turn<limits::turn_min, limits::turn_max> turn;
        bool source_open = true;
        bool sink_full = false;
        bool end_passed = false;
    };

    [[nodiscard]] half& at(direction d) noexcept { return halves_[static_cast<std::size_t>(d)]; }
    [[nodiscard]] half const& at(direction d) const noexcept
    {
        return halves_[static_cast<std::size_t>(d)];
    }

    [[nodiscard]] bool cuts_answer() const noexcept;
    [[nodiscard]] bool client_stalls() const noexcept;
    void give_up() noexcept;
    void close_with(side s, closing how) noexcept { closings_[static_cast<std::size_t>(s)] = how; }

    relay_deadlines deadlines_;
    std::array<half, 2> halves_;
    std::array<bool, 2> broken_{};      // By side.
    std::array<closing, 2> closings_{}; // By side.
    bool resets_cut_answers_ = false;
    std::size_t moved_ = 0; // In this turn.
    last_bytes to_client_;
    close_reason reason_ = close_reason::done;
    answer_end answer_end_ = answer_end::readable;
    timer timer_ = timer::idle; // Of the last wait.
    bool fin_due_ = false;
    bool fin_sent_ = false;
    bool upload_cut_ = false;
    bool drops_upload_ = false;
    bool over_ = false;
};

} // namespace cleat::app
