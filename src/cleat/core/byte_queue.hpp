// byte_queue: a first-in, first-out queue of bytes, such as those that a socket has not taken. It
// is one pointer in size, and allocates only while it holds bytes.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace cleat {

/// byte_queue owns heap memory only while it holds bytes: most connections never queue any. One
/// thread. A queue that was moved from is empty.
class byte_queue
{
public:
    byte_queue() noexcept = default;

    /// empty, size: whether it holds bytes, and how many.
    [[nodiscard]] bool empty() const noexcept { return block_ == nullptr; }
    [[nodiscard]] std::size_t size() const noexcept;

    /// append copies bytes to the end. False, and nothing is copied, when the queue would hold more
    /// than size_max, or the heap is exhausted. `bytes` may not point into this queue.
    [[nodiscard]] bool append(std::span<std::byte const> bytes, std::size_t size_max) noexcept;

    /// front is all of the bytes, oldest first, valid until the queue is changed.
    [[nodiscard]] std::span<std::byte const> front() const noexcept;

    /// consume removes the n oldest bytes; n is at most size(). An empty queue frees its memory.
    void consume(std::size_t n) noexcept;

    /// clear drops all bytes and frees their memory.
    void clear() noexcept { block_.reset(); }

private:
    // One allocation: the sizes, then `capacity` bytes of which [begin, end) are in use.
    struct block
    {
        std::size_t capacity;
        std::size_t begin;
        std::size_t end;

        std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    };
    struct free_block
    {
        void operator()(block* b) const noexcept;
    };
    using block_ptr = std::unique_ptr<block, free_block>;

    static block_ptr make_block(std::size_t capacity) noexcept;

    block_ptr block_;
};

static_assert(sizeof(byte_queue) == sizeof(void*), "an idle connection pays for this");

} // namespace cleat
