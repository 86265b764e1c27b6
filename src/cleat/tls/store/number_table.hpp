// number_table: numbers by the hash of what they stand for. Not a public header.

#pragma once

#include <cleat/tls/store/shared_blocks.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// number_table has no keys: its caller compares what a number stands for. Several numbers may have
/// the same hash. A number costs between 11 and 21 bytes.
///
/// The numbers are in blocks of some hundreds, which copies share: see shared_blocks.
class number_table
{
public:
    using number = std::uint32_t;
    using hash = std::uint32_t;

    /// reserve makes room for that many numbers, in a table without any.
    void reserve(std::size_t count);

    void insert(hash key, number added);

    /// erase removes one such entry. It is there.
    void erase(hash key, number removed);

    /// for_each calls use with each number of a hash.
    template <class Use>
    void for_each(hash key, Use use) const
    {
        if (blocks_.size() == 0)
            return;
        std::vector<slot> const& slots = blocks_[block_of(key)].slots;
        for (std::size_t i = first_place(key, slots); slots[i].value != none; i = next(i, slots))
            if (slots[i].key == key)
                use(slots[i].value);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    void seal();

private:
    static constexpr number none = UINT32_MAX;

    struct slot
    {
        hash key = 0;
        number value = none; // none: the slot is free.
    };
    // Open addressing; a power of two, at most three quarters full.
    struct block
    {
        std::vector<slot> slots;
        std::size_t used = 0;
    };

    // The high bits choose the block, and the low ones the place in it.
    [[nodiscard]] std::size_t block_of(hash key) const noexcept
    {
        return static_cast<std::size_t>(std::uint64_t{key} * blocks_.size() >> 32U);
    }
    [[nodiscard]] static std::size_t first_place(hash key, std::vector<slot> const& slots) noexcept
    {
        return key & (slots.size() - 1);
    }
    [[nodiscard]] static std::size_t next(std::size_t i, std::vector<slot> const& slots) noexcept
    {
        return (i + 1) & (slots.size() - 1);
    }
    static void put(block& target, slot added);
    static void grow(block& full);
    void spread(std::size_t count);

    shared_blocks<block> blocks_;
    std::size_t size_ = 0;
};

/// hash_of is the same for a name in upper and lower case.
[[nodiscard]] number_table::hash hash_of(std::string_view name) noexcept;

} // namespace cleat::tls
