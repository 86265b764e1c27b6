// generator: one worker's part of a load. It begins transactions when they are due and counts what
// became of them; a transaction's life is in transaction.cpp.

#pragma once

#include "generate/load_spec.hpp"
#include "generate/run.hpp"
#include "generate/session_pool.hpp"
#include "generate/tally.hpp"
#include "system/thread_times.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace cleat::bench {

using moment = std::chrono::steady_clock::time_point;

/// persona is one of the names that clients ask for, with its own sessions: no session resumes
/// under another name (RFC 8446, section 4.6.1).
struct persona
{
    tls::context context;
    session_pool sessions;
    unsigned weight = 1;
};

/// alarm wakes its worker at a moment, to the nanosecond that the kernel's timer has: a worker's
/// own deadlines are in milliseconds.
class alarm
{
public:
    /// Throws std::system_error where the kernel has no timer to give.
    explicit alarm(net::worker& on);

    void set(moment at) noexcept;
    [[nodiscard]] net::interest rings() const noexcept { return {entry_.get(), true, false}; }

private:
    // Edge-triggered: each setting of the timer is a new edge, and nobody has to read the count.
    net::entry_ptr entry_;
};

/// generator lives on its worker's thread. Transactions refer to it, so it outlives the worker's
/// run.
class generator : net::task_node
{
public:
    /// Builds the contexts: throws tls::spec_error for what the TLS library cannot do, and
    /// std::system_error where there are no timers for all kept connections.
    generator(net::worker& on, load_spec const& use, share mine);
    generator(generator&&) = delete;
    ~generator();

    /// begin starts at that moment; `done` is called once, when all has been begun and has ended.
    void begin(moment at, std::function<void()> done);

    /// finish begins no more; `done` is called when what is in flight has ended.
    void finish();

    /// times are the thread's, of what was counted as long as transactions began: from the end of
    /// the warm-up on. Zero where the run ended before that. After close_account.
    [[nodiscard]] thread_times const& times() const noexcept { return times_; }

    /// look is what is known so far.
    [[nodiscard]] glimpse look() const;

    /// close_account gives what was counted. On the worker's thread, after its run.
    [[nodiscard]] tally close_account();

    // For transactions.

    [[nodiscard]] tally& counts() noexcept { return counts_; }

    [[nodiscard]] net::worker& on() noexcept { return on_; }
    [[nodiscard]] load_spec const& use() const noexcept { return use_; }
    /// choose is the persona of the next connection.
    [[nodiscard]] persona& choose();
    /// source is the next connection's own address; null: the kernel's choice.
    [[nodiscard]] net::address const* source() noexcept;
    /// since_begin is the time on the timeline, which begins after the warm-up.
    [[nodiscard]] std::chrono::nanoseconds since_begin(moment t) const noexcept;
    /// may_ask: a request that is due then belongs to this run, however late it is asked.
    [[nodiscard]] bool may_ask(moment due) const noexcept { return due < last_; }
    /// asks_on: a connection may go on to its next request. A closed loop's time ends between two.
    [[nodiscard]] bool asks_on() const noexcept
    {
        return !finished_ || !std::holds_alternative<closed>(use_.arrive);
    }
    /// counted: a transaction that was meant to begin then is not part of the warm-up.
    [[nodiscard]] bool counted(moment intended) const noexcept { return intended >= measured_; }
    /// drains: it was meant to begin in time, and nothing is meant to any more as it ends. (Random
    /// arrivals of a number of transactions may begin later than they were expected to.)
    [[nodiscard]] bool drains(moment intended, moment end) const noexcept
    {
        return intended < up_ && end >= up_;
    }
    /// launched and ended: a connection was begun, and is over.
    void launched() noexcept { ++in_flight_; }
    void ended() noexcept;

private:
    net::detached pace();
    net::detached keep_busy();
    net::detached keep_connections();
    net::detached keep_time();
    void replace();
    [[nodiscard]] bool may_begin() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds cpu() const noexcept;
    [[nodiscard]] unsigned take_requests(moment intended) noexcept;
    void begin_one(moment intended);
    void end_of_beginning() noexcept;
    void check_done();
    static void on_turn(net::task_node& node, bool run) noexcept;

    net::worker& on_;
    load_spec const& use_;
    share mine_;
    tally counts_;
    std::vector<std::unique_ptr<persona>> personas_;
    std::mt19937_64 random_;
    unsigned weights_ = 0;
    std::size_t sources_used_ = 0;

    alarm alarm_;
    alarm ticks_;
    std::vector<alarm> bells_; // One for each kept connection.
    std::function<void()> done_;
    moment begun_{};
    moment measured_{};
    moment last_{}; // Nothing begins from here on.
    moment up_{};   // Nothing is meant to: a number may be used up before.
    std::uint64_t transactions_left_ = UINT64_MAX;
    std::size_t in_flight_ = 0;
    unsigned to_replace_ = 0;
    bool queued_ = false;
    bool finished_ = false;
    std::chrono::nanoseconds cpu_before_{}; // Of the warm-up: for who watches.
    std::optional<thread_times> first_;     // When what is counted began.
    bool timed_ = false;                    // times_ is there.
    thread_times times_;
};

} // namespace cleat::bench
