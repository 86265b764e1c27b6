#include <cleat/core/assert.hpp>
#include <cleat/tls/store/number_table.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {
namespace {

constexpr std::size_t slots_min = 8;
constexpr std::size_t block_fill = 256;  // Numbers in a block when the table is spread anew.
constexpr std::size_t blocks_max = 4096; // The rest of a hash is for the place in the block.

} // namespace

void number_table::reserve(std::size_t count)
{
    CLEAT_ASSERT(size_ == 0);
    spread(count);
}

// A table with so many blocks that `count` numbers fill them as is best.
void number_table::spread(std::size_t count)
{
    std::size_t const wanted =
        std::clamp<std::size_t>(std::bit_ceil(count / block_fill), 1, blocks_max);
    shared_blocks<block> const before = std::exchange(blocks_, {});
    while (blocks_.size() < wanted)
        blocks_.append().slots.resize(slots_min);
    for (std::size_t i = 0; i < before.size(); ++i)
        for (slot const& each : before[i].slots)
            if (each.value != none)
                put(blocks_.edit(block_of(each.key)), each);
}

void number_table::put(block& target, slot added)
{
    if ((target.used + 1) * 4 > target.slots.size() * 3)
        grow(target);
    std::size_t i = first_place(added.key, target.slots);
    while (target.slots[i].value != none)
        i = next(i, target.slots);
    target.slots[i] = added;
    ++target.used;
}

void number_table::grow(block& full)
{
    std::vector<slot> const before = std::exchange(full.slots, {});
    full.slots.resize(before.size() * 2);
    full.used = 0;
    for (slot const& each : before)
        if (each.value != none)
            put(full, each);
}

void number_table::insert(hash key, number added)
{
    constexpr std::size_t fill_max = 4 * block_fill;
    if (blocks_.size() == 0 || (size_ >= blocks_.size() * fill_max && blocks_.size() < blocks_max))
        spread(size_ + 1);
    put(blocks_.edit(block_of(key)), {key, added});
    ++size_;
}

// The slots behind move up, so that none is between a number and its first place.
void number_table::erase(hash key, number removed)
{
    block& from = blocks_.edit(block_of(key));
    std::vector<slot>& slots = from.slots;
    std::size_t hole = first_place(key, slots);
    while (slots[hole].key != key || slots[hole].value != removed) {
        CLEAT_ASSERT(slots[hole].value != none);
        hole = next(hole, slots);
    }
    std::size_t const mask = slots.size() - 1;
    for (std::size_t i = next(hole, slots); slots[i].value != none; i = next(i, slots)) {
        std::size_t const way = (i - first_place(slots[i].key, slots)) & mask;
        if (way < ((i - hole) & mask))
            continue;
        slots[hole] = slots[i];
        hole = i;
    }
    slots[hole] = {};
    --from.used;
    --size_;
}

void number_table::seal()
{
    blocks_.seal([](block&) {});
}

// FNV-1a, and then a multiplication that mixes its bits (the finalizer of MurmurHash3). The
// table's names are in our own certificates, so a client cannot make a run of full slots longer.
number_table::hash hash_of(std::string_view name) noexcept
{
    std::uint64_t sum = 14695981039346656037ULL;
    for (char const c : name) {
        bool const is_upper = c >= 'A' && c <= 'Z';
        sum ^= static_cast<unsigned char>(is_upper ? c - 'A' + 'a' : c);
        sum *= 1099511628211ULL;
    }
    sum ^= sum >> 33U;
    sum *= 0xff51afd7ed558ccdULL;
    return static_cast<number_table::hash>(sum >> 32U);
}

} // namespace cleat::tls
