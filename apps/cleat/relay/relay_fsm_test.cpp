// Every state that a legal sequence of events leads to is visited, and the promises are checked in
// each of them.

#include "relay/relay_deadlines.hpp"
#include "relay/relay_fsm.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <set>
#include <tuple>
#include <vector>

namespace cleat::app::relay_fsm_test {
namespace {

constexpr std::array both{direction::up, direction::down};

std::size_t index_of(direction d)
{
    return static_cast<std::size_t>(d);
}

// The state of the relay's peers and sockets, beside its machine.
struct world
{
    relay_fsm fsm{};
    std::array<bool, 2> held{};   // The sink holds bytes.
    std::array<bool, 2> ended{};  // The source has ended.
    std::array<bool, 2> passed{}; // The end was passed to the sink.
    bool failed = false;
    bool truncated = false;

    [[nodiscard]] auto key() const
    {
        return std::tuple{
            held,
            ended,
            passed,
            failed,
            truncated,
            fsm.over(),
            fsm.drops_upload(),
            fsm.reason(),
            fsm.turn(direction::up),
            fsm.turn(direction::down),
            fsm.sends_fin(),
            fsm.asks_unacknowledged(),
            relay_fsm{fsm}.on_wait()};
    }
};

void check(world const& w)
{
    relay_fsm const& f = w.fsm;
    for (direction const d : both) {
        std::size_t const i = index_of(d);
        // Backpressure: a direction whose sink is full reads nothing.
        REQUIRE_FALSE((f.reads(d) && w.held[i]));
        REQUIRE(f.flushes(d) == (w.held[i] && !f.over()));
        // An end is passed once, after the source's end, and behind the last byte.
        REQUIRE(f.passes_end(d) == (w.ended[i] && !w.passed[i] && !w.held[i] && !f.over()));
        REQUIRE_FALSE((f.reads(d) && w.ended[i]));
        REQUIRE(f.turn(d) >= limits::turn_min);
        REQUIRE(f.turn(d) <= limits::turn_max);
        // A direction that is not done waits for something.
        if (!f.over() && !w.passed[i])
            REQUIRE((f.reads(d) || f.flushes(d) || f.passes_end(d)));
    }
    REQUIRE(f.over() == (w.failed || (w.passed[0] && w.passed[1])));
    REQUIRE(f.lingers() == (w.passed[index_of(direction::down)] && !f.over()));
    if (f.over() && !w.failed)
        REQUIRE(f.reason() == (w.truncated ? close_reason::client_truncated : close_reason::done));
    // No FIN for an upstream that may take a part of the upload for all of it.
    if (f.over() && f.reason() != close_reason::upstream_reset && f.delivers(direction::up))
        REQUIRE(f.closes(side::upstream) == closing::reset);
    // Only the FIN that is due is sent, and behind the answer.
    if (f.sends_fin())
        REQUIRE(f.lingers());
}

void read(world const& w, direction d, std::vector<world>& next)
{
    for (std::size_t const n : {std::size_t{1}, limits::turn_min, limits::turn_max})
        for (bool const full : {false, true})
            for (bool const last : {false, true}) {
                world a = w;
                bool const dropped = d == direction::up && w.fsm.drops_upload();
                a.fsm.on_moved(d, n);
                if (full && !dropped) {
                    a.fsm.on_sink_full(d);
                    a.held[index_of(d)] = true;
                }
                if (last) {
                    a.fsm.on_end(d, ending::clean);
                    a.ended[index_of(d)] = true;
                }
                next.push_back(a);
            }
    world end = w;
    end.fsm.on_end(d, ending::clean);
    end.ended[index_of(d)] = true;
    next.push_back(end);
    if (d == direction::up) {
        world cut = w;
        cut.truncated = !w.fsm.lingers();
        cut.fsm.on_end(d, ending::truncated);
        cut.ended[index_of(d)] = true;
        next.push_back(cut);
    }
}

void drop_upload(world const& w, std::vector<world>& next)
{
    world dropped = w;
    dropped.fsm.drop_upload(answer_end::readable);
    dropped.held[index_of(direction::up)] = false;
    next.push_back(dropped);
}

// As relay_turns does: a FIN that is due goes out, and then the wait begins.
void begin_wait(relay_fsm& f)
{
    if (f.sends_fin())
        f.on_fin_sent();
    static_cast<void>(f.on_wait());
}

void time_out(world const& w, std::vector<world>& next)
{
    for (std::size_t const unacknowledged : {std::size_t{0}, std::size_t{2}}) {
        world late = w;
        begin_wait(late.fsm);
        late.fsm.on_timeout(unacknowledged);
        late.failed = late.fsm.over();
        next.push_back(late);
    }
}

std::vector<world> successors(world const& w)
{
    std::vector<world> next;
    relay_fsm const& f = w.fsm;
    if (f.over())
        return next;
    for (direction const d : both) {
        if (f.reads(d))
            read(w, d, next);
        if (f.flushes(d)) {
            world a = w;
            a.fsm.on_flushed(d);
            a.held[index_of(d)] = false;
            next.push_back(a);
        }
        if (f.passes_end(d)) {
            world a = w;
            a.fsm.on_end_passed(d);
            a.passed[index_of(d)] = true;
            next.push_back(a);
            if (d == direction::down) { // The close_notify itself may not fit.
                world full = w;
                full.fsm.on_sink_full(d);
                full.held[index_of(d)] = true;
                next.push_back(full);
            }
        }
    }
    // TLS may have something to say to the client in the middle of the other direction.
    if (f.reads(direction::up) && !f.flushes(direction::down)) {
        world a = w;
        a.fsm.on_sink_full(direction::down);
        a.held[index_of(direction::down)] = true;
        next.push_back(a);
    }
    if (!f.drops_upload() && (f.reads(direction::up) || f.flushes(direction::up)))
        drop_upload(w, next);
    for (side const s : {side::client, side::upstream}) {
        world broken = w;
        broken.fsm.on_failure(
            s, s == side::client ? close_reason::client_reset : close_reason::upstream_reset);
        broken.failed = true;
        next.push_back(broken);
    }
    time_out(w, next);
    return next;
}

TEST_CASE("no sequence of events breaks a promise of the relay")
{
    std::set<decltype(world{}.key())> seen;
    std::vector<world> to_visit{world{}};
    while (!to_visit.empty()) {
        world const w = to_visit.back();
        to_visit.pop_back();
        if (!seen.insert(w.key()).second)
            continue;
        check(w);
        for (world const& next : successors(w))
            to_visit.push_back(next);
    }
    CHECK(seen.size() > 1000);
    MESSAGE(seen.size() << " states");
}

// Peers that flush and close when they can bring every relay to its end.
world after_the_peers_close(world w)
{
    for (int step = 0; step < 8 && !w.fsm.over(); ++step)
        for (direction const d : both) {
            if (w.fsm.flushes(d))
                w.fsm.on_flushed(d);
            if (w.fsm.reads(d))
                w.fsm.on_end(d, ending::clean);
            if (w.fsm.passes_end(d))
                w.fsm.on_end_passed(d);
        }
    return w;
}

TEST_CASE("in every state, peers that close bring the relay to its end")
{
    std::set<decltype(world{}.key())> seen;
    std::vector<world> to_visit{world{}};
    while (!to_visit.empty()) {
        world const w = to_visit.back();
        to_visit.pop_back();
        if (!seen.insert(w.key()).second)
            continue;
        REQUIRE(after_the_peers_close(w).fsm.over());
        for (world const& next : successors(w))
            to_visit.push_back(next);
    }
}

TEST_CASE("turns grow with a receiver that keeps up, and shrink with one that does not")
{
    relay_fsm f;
    for (std::size_t turn = limits::turn_min; turn < limits::turn_max; turn *= 2) {
        CHECK(f.turn(direction::down) == turn);
        f.on_moved(direction::down, turn - 1); // Not all of it was needed.
        CHECK(f.turn(direction::down) == turn);
        f.on_moved(direction::down, turn);
    }
    f.on_moved(direction::down, limits::turn_max);
    CHECK(f.turn(direction::down) == limits::turn_max);
    CHECK(f.turn(direction::up) == limits::turn_min); // Each direction has its own.
    f.on_sink_full(direction::down);
    CHECK(f.turn(direction::down) == limits::turn_max / 2);
    for (int i = 0; i < 20; ++i)
        f.on_sink_full(direction::down);
    CHECK(f.turn(direction::down) == limits::turn_min);
}

TEST_CASE("a client that resets after the whole answer is no failure")
{
    relay_fsm f;
    f.on_end(direction::down, ending::clean);
    f.on_end_passed(direction::down);
    CHECK(f.lingers());
    relay_fsm reset = f;
    reset.on_failure(side::client, close_reason::client_reset);
    CHECK(reset.reason() == close_reason::done);
    relay_fsm truncated = f;
    truncated.on_end(direction::up, ending::truncated);
    truncated.on_end_passed(direction::up);
    CHECK(truncated.over());
    CHECK(truncated.reason() == close_reason::done);
}

TEST_CASE("a client that is cut off before its answer stays client_truncated to the end")
{
    relay_fsm f;
    f.on_end(direction::up, ending::truncated);
    f.on_end_passed(direction::up);
    CHECK(!f.over());
    f.on_end(direction::down, ending::clean);
    f.on_end_passed(direction::down);
    CHECK(f.over());
    CHECK(f.reason() == close_reason::client_truncated);
}

TEST_CASE("a connection is a transfer for as long as its turns move more than a record")
{
    relay_fsm fsm{};
    CHECK(!fsm.is_bulk());
    fsm.on_turn();
    fsm.on_moved(direction::up, 500);
    fsm.on_moved(direction::down, limits::bulk_min - 500);
    CHECK(!fsm.is_bulk());
    fsm.on_turn();
    fsm.on_moved(direction::down, limits::bulk_min + 1);
    CHECK(fsm.is_bulk());
    fsm.on_turn(); // The transfer is over, and little is moved again.
    fsm.on_moved(direction::up, 500);
    CHECK(!fsm.is_bulk());
    fsm.on_sink_full(direction::up); // To flush may be much again.
    CHECK(fsm.is_bulk());
    fsm.on_flushed(direction::up);
    CHECK(!fsm.is_bulk());
}

// A relay whose sink is full in this direction.
relay_fsm full(direction d)
{
    relay_fsm f;
    f.on_sink_full(d);
    return f;
}

TEST_CASE("a side is watched for a break only while it is neither read nor written")
{
    relay_fsm f;
    CHECK_FALSE(f.watches(side::client));
    CHECK_FALSE(f.watches(side::upstream));
    CHECK(full(direction::up).watches(side::client)); // Not read, and no bytes wait for it.
    CHECK_FALSE(full(direction::up).watches(side::upstream));
    f = full(direction::up);
    f.on_sink_full(direction::down);
    CHECK_FALSE(f.watches(side::client)); // A flush finds the break.
}

TEST_CASE("a client that breaks after its whole upload ends the connection at once")
{
    relay_fsm f;
    f.on_end(direction::up, ending::clean);
    f.on_end_passed(direction::up);
    REQUIRE(f.watches(side::client));
    CHECK(f.on_broken(side::client) == after_break::fail);
    CHECK_FALSE(f.delivers_after_break());
    f.on_failure(side::client, close_reason::client_reset);
    // The kernel may hold some of the upload, which is whole.
    CHECK(f.closes(side::upstream) == closing::last_bytes);
    CHECK(f.closes(side::client) == closing::fin);
}

TEST_CASE("a client that breaks in its upload has its upstream reset")
{
    relay_fsm f;
    f.on_failure(side::client, close_reason::client_reset);
    CHECK(f.over());
    CHECK(f.closes(side::upstream) == closing::reset);
    // The source has ended, but its last bytes have not left.
    relay_fsm unsent = full(direction::up);
    unsent.on_end(direction::up, ending::clean);
    unsent.on_failure(side::client, close_reason::client_reset);
    CHECK(unsent.closes(side::upstream) == closing::reset);
}

TEST_CASE("an upload for whose bytes there is no memory ends in a reset for both sides")
{
    relay_fsm f;
    f.on_upload_lost();
    CHECK(f.reason() == close_reason::out_of_resources);
    CHECK(f.closes(side::client) == closing::reset);
    CHECK(f.closes(side::upstream) == closing::reset);
}

TEST_CASE("bytes that a client sent before it broke are delivered")
{
    relay_fsm f = full(direction::up);
    CHECK(f.on_broken(side::client) == after_break::deliver);
    CHECK(f.delivers_after_break());
    CHECK_FALSE(f.watches(side::client)); // One break is enough.
}

TEST_CASE(
    "an upstream that breaks in its answer has it delivered, and after it only loses the upload")
{
    relay_fsm f = full(direction::down);
    relay_fsm whole = f;
    CHECK(f.on_broken(side::upstream) == after_break::deliver);
    CHECK(f.delivers_after_break());
    f.on_failure(side::upstream, close_reason::upstream_reset);
    CHECK(f.closes(side::client) == closing::last_bytes);
    CHECK(f.closes(side::upstream) == closing::fin);
    whole.on_end(direction::down, ending::clean);
    CHECK(whole.on_broken(side::upstream) == after_break::drop_upload);
    CHECK_FALSE(whole.delivers_after_break());
}

TEST_CASE("an end is no answer's where the failed send has taken the upstream's error")
{
    relay_fsm f;
    CHECK(f.finds_answer_end());
    f.drop_upload(answer_end::lost);
    CHECK_FALSE(f.finds_answer_end());
}

TEST_CASE("sides that have closed both are closed with a FIN")
{
    relay_fsm f;
    for (direction const d : both) {
        f.on_end(d, ending::clean);
        f.on_end_passed(d);
    }
    REQUIRE(f.over());
    CHECK(f.closes(side::client) == closing::fin);
    CHECK(f.closes(side::upstream) == closing::fin);
}

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr relay_deadlines patient{.idle = seconds{60}, .linger = seconds{10}};

// A relay whose answer and end are out.
relay_fsm lingering(relay_deadlines deadlines = patient)
{
    relay_fsm f{deadlines};
    f.on_end(direction::down, ending::clean);
    f.on_end_passed(direction::down);
    REQUIRE(f.awaits_client());
    return f;
}

TEST_CASE("a wait for the next byte has the idle timeout, each time anew, or none")
{
    relay_fsm f{patient};
    CHECK(f.on_wait() == patient.idle);
    f.on_moved(direction::up, 1);
    CHECK(f.on_wait() == patient.idle);
    relay_fsm no_timeout;
    CHECK(no_timeout.on_wait() == milliseconds{0});
    f.on_timeout();
    CHECK(f.over());
    CHECK(f.reason() == close_reason::idle_timeout);
}

TEST_CASE("a connection that cleat ends itself is reset for an upstream that awaits more")
{
    relay_fsm f{patient};
    CHECK(f.on_wait() == patient.idle);
    relay_fsm idle = f;
    idle.on_timeout();
    CHECK(idle.closes(side::upstream) == closing::reset);
    CHECK(idle.closes(side::client) == closing::fin);
    relay_fsm stopped = f;
    stopped.on_stop(close_reason::stopped);
    CHECK(stopped.reason() == close_reason::stopped);
    CHECK(stopped.closes(side::upstream) == closing::reset);
    f.on_end(direction::up, ending::clean);
    f.on_end_passed(direction::up);
    f.on_stop(close_reason::stopped);
    CHECK(f.closes(side::upstream) == closing::fin); // It has the client's end.
}

TEST_CASE("a client in plaintext learns by a reset that its answer is cut, behind the last bytes")
{
    relay_fsm f;
    f.reset_cut_answers();
    relay_fsm stopped = f;
    f.on_failure(side::upstream, close_reason::upstream_truncated);
    CHECK(f.closes(side::client) == closing::last_bytes_and_reset);
    relay_fsm whole = stopped;
    stopped.on_stop(close_reason::idle_timeout);
    CHECK(stopped.closes(side::client) == closing::reset);
    whole.on_end(direction::down, ending::clean);
    whole.on_end_passed(direction::down);
    whole.on_stop(close_reason::idle_timeout);
    CHECK(whole.closes(side::client) == closing::fin);
}

TEST_CASE("a lingering close waits for the client's FIN, sends ours, and waits again")
{
    relay_fsm f = lingering();
    CHECK_FALSE(f.sends_fin());
    CHECK(f.on_wait() == limits::fin_delay);
    CHECK_FALSE(f.asks_unacknowledged());
    f.on_timeout();
    CHECK_FALSE(f.over());
    REQUIRE(f.sends_fin());
    f.on_fin_sent();
    CHECK_FALSE(f.sends_fin()); // Once.
    CHECK(f.on_wait() == patient.linger);
    CHECK(f.asks_unacknowledged());
    f.on_timeout(1); // The FIN.
    CHECK(f.over());
    CHECK(f.reason() == close_reason::linger_timeout);
    CHECK(f.closes(side::upstream) == closing::reset);
}

TEST_CASE("a client that goes on sending does not delay our FIN, and has the linger timeout anew")
{
    relay_fsm f = lingering();
    CHECK(f.on_wait() == limits::fin_delay);
    f.on_moved(direction::up, 1);
    CHECK(f.on_wait() == std::nullopt); // The deadline that is set goes on.
    f.on_timeout();
    f.on_fin_sent();
    CHECK(f.on_wait() == patient.linger);
    f.on_moved(direction::up, 1);
    CHECK(f.on_wait() == patient.linger);
}

TEST_CASE("a client that cannot go on because the upstream is full gets our FIN at once")
{
    relay_fsm f = lingering();
    f.on_sink_full(direction::up);
    CHECK(f.sends_fin());
    f.on_fin_sent();
    CHECK(f.on_wait() == patient.idle);
    f.on_flushed(direction::up);
    CHECK(f.on_wait() == patient.linger);
}

// A lingering close whose FIN is out.
relay_fsm waiting_for_the_close(relay_deadlines deadlines = patient)
{
    relay_fsm f = lingering(deadlines);
    static_cast<void>(f.on_wait());
    f.on_timeout();
    f.on_fin_sent();
    static_cast<void>(f.on_wait());
    return f;
}

TEST_CASE("a client that still takes the last bytes is waited for")
{
    relay_fsm f = waiting_for_the_close();
    for (std::size_t left = 1000; left > 500; left -= 10)
        f.on_timeout(left);
    CHECK_FALSE(f.over());
    f.on_timeout(0);
    CHECK(f.reason() == close_reason::linger_timeout);
}

TEST_CASE("a client that takes nothing of the last bytes has the idle timeout")
{
    relay_fsm f = waiting_for_the_close();
    for (int i = 0; i <= 5; ++i) { // The first finds how much is left.
        f.on_timeout(1000);
        CHECK_FALSE(f.over());
    }
    relay_fsm one_more = f;
    one_more.on_timeout(999); // A byte is enough for its time to begin anew.
    one_more.on_timeout(999);
    CHECK_FALSE(one_more.over());
    f.on_timeout(1000);
    CHECK(f.over());
    CHECK(f.reason() == close_reason::idle_timeout);
}

TEST_CASE("without an idle timeout a client may take its last bytes as slowly as it likes")
{
    relay_fsm f = waiting_for_the_close({.linger = seconds{10}});
    for (int i = 0; i < 1000; ++i)
        f.on_timeout(1000);
    CHECK_FALSE(f.over());
}

TEST_CASE("the receiver of a broken side's last bytes has the shorter timeout, and is then reset")
{
    relay_fsm f{patient};
    f.on_sink_full(direction::up);
    REQUIRE(f.on_broken(side::client) == after_break::deliver);
    CHECK(f.on_wait() == patient.linger);
    f.on_timeout();
    CHECK(f.reason() == close_reason::client_reset);
    CHECK(f.closes(side::client) == closing::reset);
    CHECK(f.closes(side::upstream) == closing::reset);

    relay_fsm answer{patient};
    answer.on_sink_full(direction::down);
    REQUIRE(answer.on_broken(side::upstream) == after_break::deliver);
    CHECK(answer.on_wait() == patient.linger);
    answer.on_timeout();
    CHECK(answer.reason() == close_reason::upstream_reset);
    CHECK(answer.closes(side::client) == closing::reset);
}

TEST_CASE("last bytes stall while no timeout finds fewer of them")
{
    last_bytes left{10};
    left.on_timeout(8);
    CHECK(left.stalled() == 0);
    left.on_timeout(8);
    left.on_timeout(8);
    CHECK(left.stalled() == 2);
    CHECK(left.undelivered());
    left.on_timeout(1); // A FIN.
    CHECK(left.stalled() == 0);
    CHECK_FALSE(left.undelivered());
}

TEST_CASE("bytes of a broken side wait for the shorter of both deadlines, and never for ever")
{
    CHECK(relay_deadlines{.idle = seconds{2}, .linger = seconds{10}}.after_break() == seconds{2});
    CHECK(relay_deadlines{.idle = seconds{60}, .linger = seconds{10}}.after_break() == seconds{10});
    CHECK(relay_deadlines{.linger = seconds{10}}.after_break() == seconds{10});
}

} // namespace
} // namespace cleat::app::relay_fsm_test
