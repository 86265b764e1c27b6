// stalled: the connections of a worker that hold bytes for a receiver, and which of them end where
// max-memory is nearly used up.

#pragma once

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/worker.hpp>

#include <cstddef>
#include <cstdint>

namespace cleat::app {

class stalled;

/// stalled_list belongs to its worker's thread, and outlives its connections.
class stalled_list
{
public:
    /// Most connections of a worker may be idle, with nothing unacknowledged.
    static constexpr std::size_t looks_for_each = 16;

    stalled_list() noexcept = default;
    stalled_list(stalled_list&&) = delete;
    ~stalled_list() = default;

    /// evict ends connections with error::stalled_evicted, which holds the longest first: those
    /// whose receiver has acknowledged nothing from one look to another, limits::stalled_after
    /// later or more. It looks at connections whose time for a look has come: at up to `count` with
    /// unacknowledged bytes, and looks_for_each times as many in all.
    void evict(std::size_t count, net::worker::clock::time_point now) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    friend class stalled;

    stalled* first_ = nullptr;
    stalled* last_ = nullptr;
    std::size_t size_ = 0;
};

/// stalled is one relay's place in the list, while it waits: cleat or the kernel may hold bytes
/// that a receiver has not taken.
class stalled
{
public:
    /// Without a list nothing is ever ended. All arguments outlive it.
    stalled(stalled_list* list, net::interrupt& interrupt) noexcept
        : list_{list}, interrupt_{interrupt}
    {
    }
    stalled(stalled&&) = delete;
    ~stalled() { leave(); }

    /// join: the relay waits, and this is the socket of the receiver that is looked at. `taken` is
    /// how many bytes the socket has taken so far. Where neither has changed since the last wait,
    /// the place in the list stays: bytes of the other direction are no sign of life.
    void join(net::socket const& receiver, std::uint64_t taken) noexcept;

    /// leave: the wait has ended.
    void leave() noexcept;

private:
    friend class stalled_list;

    void append(net::worker::clock::time_point now) noexcept;

    stalled_list* list_;
    net::interrupt& interrupt_;
    net::socket const* receiver_ = nullptr; // Null: it is not in the list.
    net::worker::clock::time_point since_{};
    std::uint64_t taken_ = 0;
    std::size_t unacknowledged_ = 0; // At the last look; 0: there was none.
    stalled* previous_ = nullptr;
    stalled* next_ = nullptr;
};

} // namespace cleat::app
