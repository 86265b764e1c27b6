// buffer_pool: a worker's blocks of one fixed size, lent to whoever must hold bytes while it waits.

#pragma once

#include <cleat/core/limits.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace cleat {

/// buffer_pool keeps blocks that were given back for the next borrower, up to a bound; the rest go
/// back to the heap. One thread. It stays where it was made, and outlives every block that it
/// lends.
class buffer_pool
{
public:
    class block;

    /// buffer_pool of blocks of block_size bytes (at least a pointer's), keeping at most kept_max
    /// free.
    explicit buffer_pool(
        std::size_t block_size = limits::block_size,
        std::size_t kept_max = limits::blocks_kept_max) noexcept;
    buffer_pool(buffer_pool&&) = delete;
    ~buffer_pool();

    /// borrow lends a block. What stands in it is whatever the last borrower left. The block owns
    /// nothing (is false) when the heap is exhausted.
    [[nodiscard]] block borrow() noexcept;

    [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }
    [[nodiscard]] std::size_t lent() const noexcept { return lent_; }
    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

    /// trim gives every free block back to the heap.
    void trim() noexcept;

private:
    // A free block holds the pointer to the next one in its own bytes.
    struct free_block
    {
        free_block* next;
    };

    void give_back(std::byte* data) noexcept;

    std::size_t block_size_;
    std::size_t kept_max_;
    std::size_t kept_ = 0;
    std::size_t lent_ = 0;
    free_block* free_ = nullptr;
};

/// block is a borrowed block; its destructor gives it back. One that was moved from owns nothing.
class buffer_pool::block
{
public:
    block() noexcept = default;
    block(block&& other) noexcept
        : pool_{std::exchange(other.pool_, nullptr)}, data_{std::exchange(other.data_, nullptr)}
    {
    }
    block& operator=(block&& other) noexcept
    {
        block old{std::move(other)};
        std::swap(pool_, old.pool_);
        std::swap(data_, old.data_);
        return *this;
    }
    ~block() { reset(); }

    [[nodiscard]] explicit operator bool() const noexcept { return pool_ != nullptr; }

    /// bytes is the whole block; nothing when none is owned.
    [[nodiscard]] std::span<std::byte> bytes() const noexcept
    {
        return {data_, pool_ != nullptr ? pool_->block_size() : 0};
    }

    /// reset gives the block back now.
    void reset() noexcept
    {
        if (buffer_pool* const pool = std::exchange(pool_, nullptr); pool != nullptr)
            pool->give_back(std::exchange(data_, nullptr));
    }

private:
    friend class buffer_pool;
    block(buffer_pool& pool, std::byte* data) noexcept : pool_{&pool}, data_{data} {}

    buffer_pool* pool_ = nullptr;
    std::byte* data_ = nullptr;
};

} // namespace cleat
