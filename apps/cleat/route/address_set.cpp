#include "route/address_set.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace cleat::app {
namespace {

// The last address of a prefix: all bits behind it are 1.
std::array<std::uint8_t, 16> last_of(ip_prefix const& prefix) noexcept
{
    std::array<std::uint8_t, 16> last = prefix.network.bytes;
    for (std::size_t bit = prefix.length; bit < prefix.network.size() * 8; ++bit)
        last[bit / 8] = static_cast<std::uint8_t>(last[bit / 8] | 0x80U >> bit % 8);
    return last;
}

// The address after this one; false: it is the last of all.
bool increment(std::array<std::uint8_t, 16>& address, std::size_t size) noexcept
{
    for (std::size_t i = size; i-- != 0;)
        if (++address[i] != 0)
            return true;
    return false;
}

} // namespace

address_set::address_set(std::span<ip_prefix const> prefixes)
{
    std::array<ranges, 2> all;
    for (ip_prefix const& each : prefixes)
        all[each.network.is_ipv6 ? 1 : 0].push_back({each.network.bytes, last_of(each)});
    for (std::size_t i = 0; i != all.size(); ++i)
        ranges_[i] = join(std::move(all[i]), i == 0 ? 4 : 16);
}

// `size` is that of an address: only its bytes count.
address_set::ranges address_set::join(ranges all, std::size_t size)
{
    std::ranges::sort(all, {}, &range::first);
    ranges joined;
    for (range const& each : all) {
        bytes next = joined.empty() ? bytes{} : joined.back().last;
        bool const touches = !joined.empty() && (each.first <= joined.back().last ||
                                                 (increment(next, size) && next == each.first));
        if (touches)
            joined.back().last = std::max(joined.back().last, each.last);
        else
            joined.push_back(each);
    }
    return joined;
}

bool address_set::contains(ranges const& all, bytes const& first, bytes const& last) noexcept
{
    auto const after = std::ranges::upper_bound(all, first, {}, &range::first);
    return after != all.begin() && std::prev(after)->last >= last;
}

bool address_set::contains(ip_address const& address) const noexcept
{
    return contains(ranges_[address.is_ipv6 ? 1 : 0], address.bytes, address.bytes);
}

bool address_set::covers(address_set const& other) const noexcept
{
    for (std::size_t i = 0; i != ranges_.size(); ++i)
        for (range const& each : other.ranges_[i])
            if (!contains(ranges_[i], each.first, each.last))
                return false;
    return true;
}

} // namespace cleat::app
