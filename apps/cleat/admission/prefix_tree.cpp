#include "admission/prefix_tree.hpp"

#include <algorithm>
#include <bit>

namespace cleat::app {
namespace {

constexpr unsigned stride = 6;

// The six bits at a position. Behind the end of an address there are zeros.
template <std::size_t N>
unsigned bits_at(std::array<std::uint8_t, N> const& bytes, unsigned position) noexcept
{
    std::size_t const first = position / 8;
    unsigned const next = first + 1 < N ? bytes[first + 1] : 0U;
    unsigned const both = unsigned{bytes[first]} << 8U | next;
    return both >> (16 - stride - position % 8) & 63U;
}

constexpr std::uint64_t bit_of(unsigned value) noexcept
{
    return std::uint64_t{1} << value;
}

// The number of an entry, among those whose bits are set.
std::size_t rank(std::uint64_t set, std::uint64_t bit) noexcept
{
    return static_cast<std::size_t>(std::popcount(set & (bit - 1)));
}

template <std::size_t N>
bool has(prefix<N> const& wanted, std::array<std::uint8_t, N> const& address) noexcept
{
    std::size_t const whole = wanted.length / 8U;
    if (!std::equal(address.begin(), address.begin() + whole, wanted.bytes.begin()))
        return false;
    unsigned const rest = wanted.length % 8U;
    return rest == 0 || (unsigned{address[whole]} ^ wanted.bytes[whole]) >> (8 - rest) == 0;
}

// Sorted, a prefix comes right before those that it contains.
template <std::size_t N>
void leave_out_contained(std::vector<prefix<N>>& prefixes)
{
    std::ranges::sort(prefixes);
    std::size_t kept = 0;
    for (prefix<N> const& each : prefixes) {
        bool const is_contained = kept != 0 && prefixes[kept - 1].length <= each.length &&
                                  has(prefixes[kept - 1], each.bytes);
        if (!is_contained)
            prefixes[kept++] = each;
    }
    prefixes.resize(kept);
}

} // namespace

template <std::size_t N>
prefix_tree<N>::prefix_tree(std::vector<prefix<N>> prefixes)
{
    leave_out_contained(prefixes);
    size_ = prefixes.size();
    if (prefixes.empty())
        return;
    nodes_.resize(1);
    fill(0, prefixes, 0);
    nodes_.shrink_to_fit();
    alone_.shrink_to_fit();
}

// The prefixes have all bits before the position in common, and none of them contains another.
template <std::size_t N>
void prefix_tree<N>::fill(std::size_t number, std::span<prefix<N> const> sorted, unsigned position)
{
    node made{.first_alone = static_cast<std::uint32_t>(alone_.size())};
    std::array<std::span<prefix<N> const>, 64> groups;
    std::size_t children = 0;
    while (!sorted.empty()) {
        prefix<N> const& first = sorted.front();
        unsigned const bits = bits_at(first.bytes, position);
        std::size_t size = 1;
        if (first.length <= position + stride) {
            unsigned const width = 1U << (position + stride - first.length);
            for (unsigned i = 0; i < width; ++i)
                made.whole |= bit_of(bits + i);
        } else {
            while (size < sorted.size() && bits_at(sorted[size].bytes, position) == bits)
                ++size;
            if (size == 1) {
                made.alone |= bit_of(bits);
                alone_.push_back(first);
            } else {
                made.children |= bit_of(bits);
                groups[children++] = sorted.first(size);
            }
        }
        sorted = sorted.subspan(size);
    }
    made.first_child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[number] = made;
    nodes_.resize(nodes_.size() + children);
    for (std::size_t i = 0; i < children; ++i)
        fill(made.first_child + i, groups[i], position + stride);
}

template <std::size_t N>
bool prefix_tree<N>::contains(address const& wanted) const noexcept
{
    if (nodes_.empty())
        return false;
    std::size_t number = 0;
    for (unsigned position = 0;; position += stride) {
        node const& current = nodes_[number];
        std::uint64_t const bit = bit_of(bits_at(wanted, position));
        if (current.whole & bit)
            return true;
        if (current.children & bit)
            number = current.first_child + rank(current.children, bit);
        else
            return (current.alone & bit) != 0 &&
                   has(alone_[current.first_alone + rank(current.alone, bit)], wanted);
    }
}

template class prefix_tree<4>;
template class prefix_tree<16>;

} // namespace cleat::app
