// line_ring: lines on their way from a worker to the thread that writes them, without a lock.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace cleat::app {

/// line_ring has one thread that pushes lines and one that takes them. Its memory is used page by
/// page: a ring that never was full has not touched all of it.
class line_ring
{
public:
    /// `size` bytes, a power of two. Throws std::bad_alloc.
    explicit line_ring(std::size_t size);
    line_ring(line_ring&&) = delete;
    ~line_ring() = default;

    /// push takes a line, which ends with its only newline. Without room for all of it the line is
    /// lost, and counted. The pushing thread only.
    void push(std::string_view line) noexcept;

    /// copy_lines copies the oldest lines, as many whole ones as fit, and leaves them in the ring.
    /// `out` has room for any line. The taking thread only.
    [[nodiscard]] std::string_view copy_lines(std::span<char> out) const noexcept;

    /// drop removes the oldest lines, which have so many bytes. The taking thread only.
    void drop(std::size_t bytes) noexcept;

    /// empty: a line that is pushed now may be missed. Any thread.
    [[nodiscard]] bool empty() const noexcept { return end_.load() == begin_.load(); }

    /// size is how many bytes its lines have. The taking thread only.
    [[nodiscard]] std::size_t size() const noexcept { return end_.load() - begin_.load(); }

    /// lines_lost is how many found no room. Any thread.
    [[nodiscard]] std::uint64_t lines_lost() const noexcept
    {
        return lost_.load(std::memory_order_relaxed);
    }

private:
    std::size_t const size_;
    std::unique_ptr<char[]> const bytes_;
    // They count bytes for ever; a place in the ring is the remainder. Each is written by one
    // thread, on a cache line of its own.
    alignas(64) std::atomic<std::uint64_t> end_{0};
    std::atomic<std::uint64_t> lost_{0};
    alignas(64) std::atomic<std::uint64_t> begin_{0};
};

} // namespace cleat::app
