// worker_load: one worker's part of a load, as its transactions see it: what to send, under which
// name, and where to count.

#pragma once

#include "generate/alarm.hpp"
#include "generate/load_spec.hpp"
#include "generate/session_pool.hpp"
#include "generate/tally.hpp"
#include "system/entropy.hpp"

#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <variant>
#include <vector>

namespace cleat::bench {

/// client_identity is a name that clients ask for, with sessions of its own: a session is not
/// resumed under another name (RFC 8446, section 4.6.1).
struct client_identity
{
    tls::context context;
    session_pool sessions;
    unsigned weight = 1;
};

/// worker_load lives on its worker's thread and outlives its transactions.
class worker_load
{
public:
    worker_load(worker_load&&) = delete;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }
    [[nodiscard]] load_spec const& spec() const noexcept { return spec_; }
    [[nodiscard]] tally& counts() noexcept { return counts_; }

    /// choose_identity is the identity of the next connection.
    [[nodiscard]] client_identity& choose_identity();

    /// choose_path is the number of the next transaction's path; of one path 0.
    [[nodiscard]] std::size_t choose_path();

    /// next_source is the next connection's own address; null: the kernel chooses one.
    [[nodiscard]] net::address const* next_source() noexcept;

    /// since_begin is the time on the timeline, which begins after the warm-up.
    [[nodiscard]] std::chrono::nanoseconds since_begin(moment t) const noexcept
    {
        return t - measured_;
    }

    /// is_counted: a transaction that was meant to begin then is not part of the warm-up.
    [[nodiscard]] bool is_counted(moment intended) const noexcept { return intended >= measured_; }

    /// is_in_schedule: the moment is in the time in which transactions are meant to begin.
    [[nodiscard]] bool is_in_schedule(moment t) const noexcept
    {
        return t >= measured_ && t < schedule_end_;
    }

    /// time_left is how long transactions may still begin; negative when that is over.
    [[nodiscard]] std::chrono::nanoseconds time_left(moment now) const noexcept
    {
        return last_ - now;
    }

    /// random_bytes are for the keys of WebSockets.
    [[nodiscard]] entropy& random_bytes() noexcept { return entropy_; }

    /// is_in_time: a request that is due then belongs to this run, however late it is sent.
    [[nodiscard]] bool is_in_time(moment due) const noexcept { return due < last_; }

    /// take_next: a connection may begin another request `now`: its time is not up, and where the
    /// load keeps its connections, the number of transactions is not used up.
    [[nodiscard]] bool take_next(moment now) noexcept;

    /// drains: the transaction was meant to begin in the time of the load, and ends after it.
    /// (Poisson arrivals of a given number may begin later than expected.)
    [[nodiscard]] bool drains(moment intended, moment end) const noexcept
    {
        return intended < schedule_end_ && end >= schedule_end_;
    }

    /// spans_half: the transaction was under way, or due, when half of that time was over.
    [[nodiscard]] bool spans_half(moment intended, moment end) const noexcept
    {
        return intended < half_ && end >= half_;
    }

    /// connection_begun and connection_ended are called once for each connection.
    void connection_begun() noexcept { ++in_flight_; }
    void connection_ended() noexcept;

protected:
    /// Builds the contexts: throws tls::spec_error for what the TLS library cannot do.
    worker_load(net::worker& worker, load_spec const& spec, share part);
    ~worker_load() = default;

    /// after_connection is called when a connection has ended and is not in flight any more.
    virtual void after_connection() noexcept = 0;

    net::worker& worker_;
    load_spec const& spec_;
    share part_;
    tally counts_;
    std::size_t in_flight_ = 0;
    std::uint64_t transactions_left_ = UINT64_MAX;
    bool finished_ = false;
    moment measured_{};     // The warm-up ends.
    moment last_{};         // Nothing begins from here on.
    moment schedule_end_{}; // Nothing is due from here on: a number may be used up before last_.
    moment half_{};         // Half of the time between measured_ and schedule_end_ is over.

private:
    std::vector<std::unique_ptr<client_identity>> identities_;
    std::mt19937_64 random_;
    entropy entropy_;
    unsigned weights_ = 0;
    unsigned path_weights_ = 0;
    std::size_t sources_used_ = 0;
};

} // namespace cleat::bench
