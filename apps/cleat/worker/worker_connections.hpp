// worker_connections: how many connections a worker has, and how they ended.

#pragma once

#include "counts/close_reason.hpp"
#include "counts/worker_counts.hpp"
#include "limits/half_open.hpp"
#include "limits/stalled.hpp"
#include "limits/worker_limits.hpp"
#include "log/failure_burst.hpp"
#include "memory/memory_pressure.hpp"
#include "memory/wave.hpp"
#include "overload/handshake_line.hpp"

#include <cleat/net/worker.hpp>
#include <cleat/net/worker_sessions.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

class challenge_maker;

/// worker_connections belongs to its worker's thread, and lives as long as the worker.
class worker_connections
{
public:
    /// `challenges` and `sessions` outlive it. `workers` is how many share the limits. sessions:
    /// null where none is resumed by ID.
    worker_connections(
        net::worker& worker, challenge_maker& challenges, std::size_t workers = 1,
        net::worker_sessions* sessions = nullptr)
        : worker_{worker}
        , challenges_{challenges}
        , sessions_{sessions}
        , limits_{worker.number(), workers}
    {
    }
    worker_connections(worker_connections&&) = delete;
    ~worker_connections() = default;

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }

    /// on_open, on_close keep count of the connections.
    void on_open() noexcept
    {
        wave_.on_rise(++open_);
        counts_.traffic.add(traffic_count::opened);
    }
    void on_close(close_reason why) noexcept;

    [[nodiscard]] std::size_t open() const noexcept { return open_; }

    /// waves_ended counts those of connections and of unfinished handshakes. Any thread.
    [[nodiscard]] std::uint64_t waves_ended() const noexcept
    {
        return wave_.ended() + half_open_.waves().ended();
    }

    /// counts are the worker's numbers. Any thread may read them.
    [[nodiscard]] worker_counts& counts() noexcept { return counts_; }
    [[nodiscard]] worker_counts const& counts() const noexcept { return counts_; }

    /// failures decides which failed connections have a line in the log.
    [[nodiscard]] failure_burst& failures() noexcept { return failures_; }

    /// challenges makes what answers ACME challenges, for all workers.
    [[nodiscard]] challenge_maker& challenges() const noexcept { return challenges_; }

    /// sessions are those that clients resume by ID, of all configurations; or null.
    [[nodiscard]] net::worker_sessions* sessions() const noexcept { return sessions_; }

    /// limits are this worker's parts of the limits, and what it has counted for them.
    [[nodiscard]] worker_limits& limits() noexcept { return limits_; }
    [[nodiscard]] worker_limits const& limits() const noexcept { return limits_; }

    /// half_open are the connections that have not finished their handshake.
    [[nodiscard]] half_open_list& half_open() noexcept { return half_open_; }
    [[nodiscard]] half_open_list const& half_open() const noexcept { return half_open_; }

    /// stalled are the relays that wait. Null where max-memory is off: then none ever ends.
    [[nodiscard]] stalled_list* stalled() noexcept { return lists_stalled_ ? &stalled_ : nullptr; }

    /// list_stalled: relays that begin from now on are in the list, or are not.
    void list_stalled(bool wanted) noexcept { lists_stalled_ = wanted; }

    /// memory is how short memory is: see max-memory.
    [[nodiscard]] memory_pressure& memory() noexcept { return memory_; }

    /// follow takes the share of a new reading of the memory, and ends the connections that have
    /// to give way: see memory_level.
    void follow(memory_share share) noexcept;

    /// bound_sessions sets how many sessions there may be for clients that resume by ID, and how
    /// long each lives. While memory is short there are no more than at its beginning, and half of
    /// these once it is full.
    void bound_sessions(std::size_t sessions_max, std::chrono::seconds lifetime) noexcept;

    /// line is of the full handshakes that wait for this worker's time.
    [[nodiscard]] handshake_line& line() noexcept { return line_; }

    /// stop_after_last stops the worker when no connection is left, at once if none is.
    void stop_after_last() noexcept;

private:
    void follow_sessions(memory_level before) noexcept;

    net::worker& worker_;
    challenge_maker& challenges_;
    net::worker_sessions* sessions_;
    std::size_t open_ = 0;
    wave wave_;
    bool draining_ = false;
    worker_counts counts_;
    failure_burst failures_{worker_};
    worker_limits limits_;
    half_open_list half_open_;
    stalled_list stalled_;
    bool lists_stalled_ = false;
    memory_pressure memory_;
    std::size_t sessions_max_ = 0;
    std::chrono::seconds session_lifetime_{};
    handshake_line line_{worker_};
};

} // namespace cleat::app
