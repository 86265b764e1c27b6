// prefix_tree: a set of address prefixes, in a compact radix tree that never changes.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cleat::app {

/// prefix is the addresses of N bytes whose first `length` bits are those of `bytes`. The bits
/// behind them are 0.
template <std::size_t N>
struct prefix
{
    std::array<std::uint8_t, N> bytes{};
    std::uint8_t length = 0;

    friend bool operator==(prefix const&, prefix const&) = default;
    friend auto operator<=>(prefix const&, prefix const&) = default;
};

/// prefix_tree looks at six bits of an address in each node. A prefix that is alone below a node is
/// stored whole, so a tree has no chains of nodes with one child. Any number of threads may search
/// it. N is 4 for IPv4 and 16 for IPv6.
template <std::size_t N>
class prefix_tree
{
public:
    using address = std::array<std::uint8_t, N>;

    prefix_tree() = default;

    /// Takes at most UINT32_MAX prefixes, in any order. They may contain one another.
    explicit prefix_tree(std::vector<prefix<N>> prefixes);

    /// contains is true when one of the prefixes has the address.
    [[nodiscard]] bool contains(address const& wanted) const noexcept;

    /// size is how many prefixes there are, without those that another one contains.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// memory is what the tree takes from the heap, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept
    {
        return nodes_.capacity() * sizeof(node) + alone_.capacity() * sizeof(prefix<N>);
    }

    /// Equal trees have the same prefixes, without those that another one contains.
    friend bool operator==(prefix_tree const&, prefix_tree const&) = default;

private:
    // Each of the 64 values of six bits is in at most one of the three sets. In none: no prefix has
    // an address that goes on so.
    struct node
    {
        std::uint64_t whole = 0;    // A prefix has all of these addresses.
        std::uint64_t children = 0; // Another node decides. The children stand side by side.
        std::uint64_t alone = 0;    // One prefix is left to compare. They stand side by side, too.
        std::uint32_t first_child = 0;
        std::uint32_t first_alone = 0;

        friend bool operator==(node const&, node const&) = default;
    };

    void fill(std::size_t number, std::span<prefix<N> const> sorted, unsigned position);

    std::vector<node> nodes_; // The first is the root; empty: there is no prefix.
    std::vector<prefix<N>> alone_;
    std::size_t size_ = 0;
};

} // namespace cleat::app
