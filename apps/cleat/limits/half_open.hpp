// half_open: the connections of a worker that have not finished their handshake, and which of them
// end first where descriptors or memory run out.

#pragma once

#include "memory/wave.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/worker.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>

namespace cleat::app {

class half_open;

/// half_open_list belongs to its worker's thread, and outlives its connections.
class half_open_list
{
public:
    half_open_list() noexcept = default;
    half_open_list(half_open_list&&) = delete;
    ~half_open_list() = default;

    /// grace is the time for which each connection is spared: an honest client's handshake is
    /// mostly finished by then.
    static constexpr std::chrono::milliseconds grace{1000};

    /// evict ends up to `count` connections, with error::handshake_evicted: first those whose
    /// client has sent nothing, then the others, and the longest waiting of each kind first. It
    /// spares connections that have waited for less than `grace` until `now`, from their beginning
    /// or from their first byte. Their descriptors are free when it returns, except those of
    /// connections that wait for a turn of the worker.
    void evict(std::size_t count, net::worker::clock::time_point now) noexcept;

    /// size may be read by any thread.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return size_.load(std::memory_order_relaxed);
    }

    /// waves are those of unfinished handshakes, which need more memory than a connection.
    [[nodiscard]] wave const& waves() const noexcept { return wave_; }

private:
    friend class half_open;

    struct queue
    {
        half_open* first = nullptr;
        half_open* last = nullptr;
    };

    [[nodiscard]] half_open* next_to_end(net::worker::clock::time_point now) const noexcept;

    queue silent_; // No byte has come.
    queue heard_;  // The client has begun.
    // A load and a store, where an increment would lock the cache line: there is only one writer.
    std::size_t resize(std::size_t size) noexcept
    {
        size_.store(size, std::memory_order_relaxed);
        return size;
    }

    std::atomic<std::size_t> size_{0};
    wave wave_;
};

/// half_open is one connection's place in the list, from its construction to its end. A part of the
/// handshake that waits for the client has one in its own frame, so that an established connection
/// has no room for it.
class half_open
{
public:
    half_open(half_open_list& list, net::interrupt& interrupt) noexcept;
    half_open(half_open&&) = delete;
    ~half_open();

    /// on_input: the client has sent something. Later calls change nothing.
    void on_input() noexcept;

private:
    friend class half_open_list;

    void join(half_open_list::queue& queue) noexcept;
    void leave() noexcept;

    half_open_list& list_;
    net::interrupt& interrupt_;
    half_open_list::queue* in_ = nullptr; // Null: it has been evicted.
    net::worker::clock::time_point since_{};
    half_open* previous_ = nullptr;
    half_open* next_ = nullptr;
};

} // namespace cleat::app
