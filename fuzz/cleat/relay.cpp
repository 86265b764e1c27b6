#include "input_reader.hpp"
#include "relay/relay_deadlines.hpp"
#include "relay/relay_fsm.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace cleat::fuzz {
namespace {

using app::closing;
using app::direction;
using app::relay_fsm;
using app::side;

// An event that relay_turns and relay report. Each byte of the input chooses one; those that cannot
// happen in the machine's present state are left out.
enum class event : unsigned
{
    moved,
    moved_and_full,
    ended,
    truncated,
    flushed,
    end_passed,
    end_held, // The close_notify has no room.
    handshake_held,
    send_failed,
    broken,
    failed,
    upload_lost,
    timeout,
    stopped,
    count,
};

void read_source(relay_fsm& fsm, direction d, event what, std::size_t size)
{
    if (!fsm.reads(d))
        return;
    if (what == event::moved || what == event::moved_and_full) {
        fsm.on_moved(d, size);
        if (what == event::moved_and_full && !(d == direction::up && fsm.drops_upload()))
            fsm.on_sink_full(d);
        return;
    }
    bool const is_cut = what == event::truncated && d == direction::up;
    fsm.on_end(d, is_cut ? app::ending::truncated : app::ending::clean);
}

void fill_sink(relay_fsm& fsm, direction d, event what)
{
    if (what == event::flushed && fsm.flushes(d))
        fsm.on_flushed(d);
    else if (what == event::end_passed && fsm.passes_end(d))
        fsm.on_end_passed(d);
    else if (what == event::end_held && d == direction::down && fsm.passes_end(d))
        fsm.on_sink_full(d);
    else if (
        what == event::handshake_held && fsm.reads(direction::up) && !fsm.flushes(direction::down))
        fsm.on_sink_full(direction::down);
}

// As relay_turns::notice_breaks and drop_upload do.
void break_side(relay_fsm& fsm, side s, event what, bool is_readable)
{
    bool const sends = fsm.reads(direction::up) || fsm.flushes(direction::up);
    app::answer_end const end = is_readable ? app::answer_end::readable : app::answer_end::lost;
    app::close_reason const why =
        s == side::client ? app::close_reason::client_reset : app::close_reason::upstream_reset;
    if (what == event::send_failed) {
        if (sends && !fsm.drops_upload())
            fsm.drop_upload(end);
    } else if (what == event::failed) {
        fsm.on_failure(s, why);
    } else if (what == event::upload_lost) {
        if (sends)
            fsm.on_upload_lost();
    } else if (what == event::broken && fsm.watches(s)) {
        app::after_break const next = fsm.on_broken(s);
        if (next == app::after_break::fail)
            fsm.on_failure(s, why);
        else if (next == app::after_break::drop_upload)
            fsm.drop_upload(end);
    }
}

void wait(relay_fsm& fsm, event what, std::size_t unacknowledged)
{
    if (what == event::stopped)
        return fsm.on_stop(app::close_reason::stopped);
    if (what != event::timeout)
        return;
    if (fsm.sends_fin())
        fsm.on_fin_sent();
    std::optional<std::chrono::milliseconds> const deadline = fsm.on_wait();
    // A wait without a deadline has no timeout.
    if (!deadline || deadline->count() != 0)
        fsm.on_timeout(unacknowledged);
}

void check(relay_fsm const& fsm)
{
    for (direction const d : {direction::up, direction::down}) {
        CLEAT_ASSERT(!(fsm.reads(d) && fsm.flushes(d)));
        CLEAT_ASSERT(!(fsm.reads(d) && fsm.ended(d)));
        CLEAT_ASSERT(!(fsm.passes_end(d) && fsm.delivers(d)));
        CLEAT_ASSERT(fsm.turn(d) >= limits::turn_min && fsm.turn(d) <= limits::turn_max);
        CLEAT_ASSERT(!fsm.over() || !(fsm.reads(d) || fsm.flushes(d) || fsm.passes_end(d)));
    }
    // Something can go on, or the deadline of the wait ends it.
    bool const waits = fsm.reads(direction::up) || fsm.reads(direction::down) ||
                       fsm.flushes(direction::up) || fsm.flushes(direction::down) ||
                       fsm.passes_end(direction::up) || fsm.passes_end(direction::down);
    CLEAT_ASSERT(waits || fsm.over());
    // No FIN for an upstream that may take a part of the upload for all of it.
    if (fsm.over() && fsm.reason() != app::close_reason::upstream_reset &&
        fsm.delivers(direction::up))
        CLEAT_ASSERT(fsm.closes(side::upstream) == closing::reset);
}

// Peers that take all bytes, and then close, bring every relay to its end.
void let_peers_close(relay_fsm& fsm)
{
    for (int step = 0; step < 8 && !fsm.over(); ++step)
        for (direction const d : {direction::up, direction::down}) {
            fill_sink(fsm, d, event::flushed);
            read_source(fsm, d, event::ended, 0);
            fill_sink(fsm, d, event::end_passed);
        }
    CLEAT_ASSERT(fsm.over());
}

} // namespace

// Two bytes are the deadlines and the client's kind; each further byte is an event: what happens,
// to which side, and one of two sizes.
void relay(octets input)
{
    input_reader from{input};
    std::chrono::milliseconds const idle{from.number(1) * 100};
    relay_fsm fsm{{.idle = idle}};
    if (from.number(1) % 2 == 1)
        fsm.reset_cut_answers();
    while (!from.is_empty() && !fsm.over()) {
        std::size_t const byte = from.number(1);
        auto const what = static_cast<event>(byte % static_cast<unsigned>(event::count));
        std::size_t const choice = byte / static_cast<unsigned>(event::count);
        bool const is_large = choice / 2 % 2 == 1;
        direction const d = choice % 2 == 0 ? direction::up : direction::down;
        side const s = choice % 2 == 0 ? side::client : side::upstream;
        if (what <= event::truncated)
            read_source(fsm, d, what, is_large ? limits::turn_max : 1);
        else if (what <= event::handshake_held)
            fill_sink(fsm, d, what);
        else if (what <= event::upload_lost)
            break_side(fsm, s, what, is_large);
        else
            wait(fsm, what, is_large ? 2 : 0);
        check(fsm);
    }
    let_peers_close(fsm);
}

} // namespace cleat::fuzz
