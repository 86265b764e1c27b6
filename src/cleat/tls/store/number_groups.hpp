// number_groups: small ordered lists of numbers. Not a public header.

#pragma once

#include <cleat/tls/store/shared_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cleat::tls {

/// number_groups has groups of numbers, each in an order that its caller gives: is_after(a, b) is
/// whether a comes after b. The order of two numbers in a group does not change.
///
/// The groups are in blocks of 64, which copies share: see shared_blocks.
class number_groups
{
public:
    using number = std::uint32_t;
    using group = std::vector<number>;
    using id = std::uint32_t;

    /// add makes a group of two numbers.
    template <class IsAfter>
    id add(number one, number other, IsAfter is_after)
    {
        if (is_after(one, other))
            std::swap(one, other);
        id const added = take_id();
        edit(added) = {one, other};
        return added;
    }

    /// insert adds a number, unless the group has it.
    template <class IsAfter>
    void insert(id changed, number added, IsAfter is_after)
    {
        if (contains(changed, added, is_after))
            return;
        group& all = edit(changed);
        all.insert(place_of(all, added, is_after), added);
    }

    /// erase is true if the group had the number.
    template <class IsAfter>
    bool erase(id changed, number removed, IsAfter is_after)
    {
        if (!contains(changed, removed, is_after))
            return false;
        group& all = edit(changed);
        all.erase(place_of(all, removed, is_after));
        return true;
    }

    template <class IsAfter>
    [[nodiscard]] bool contains(id where, number wanted, IsAfter is_after) const
    {
        group const& all = (*this)[where];
        auto const found = place_of(all, wanted, is_after);
        return found != all.end() && *found == wanted;
    }

    /// remove makes the id free.
    void remove(id removed)
    {
        edit(removed) = {};
        free_.push_back(removed);
    }

    [[nodiscard]] group const& operator[](id wanted) const noexcept
    {
        return blocks_[wanted / block_size][wanted % block_size];
    }

    void seal()
    {
        blocks_.seal([](std::vector<group>&) {});
    }

private:
    static constexpr std::size_t block_size = 64;

    // The first that does not come before the number.
    template <class Group, class IsAfter>
    [[nodiscard]] static auto place_of(Group& all, number wanted, IsAfter is_after)
    {
        return std::ranges::lower_bound(
            all, wanted, [&](number one, number other) { return is_after(other, one); });
    }

    [[nodiscard]] group& edit(id wanted)
    {
        return blocks_.edit(wanted / block_size)[wanted % block_size];
    }

    [[nodiscard]] id take_id()
    {
        if (free_.empty()) {
            auto const first = static_cast<id>(blocks_.size() * block_size);
            blocks_.append().resize(block_size);
            for (id each = first + block_size; each > first; --each)
                free_.push_back(each - 1);
        }
        id const taken = free_.back();
        free_.pop_back();
        return taken;
    }

    shared_blocks<std::vector<group>> blocks_;
    std::vector<id> free_;
};

} // namespace cleat::tls
