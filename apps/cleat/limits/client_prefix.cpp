#include "admission/address_list.hpp"
#include "limits/client_prefix.hpp"

#include <algorithm>
#include <cstddef>

namespace cleat::app {
namespace {

constexpr std::size_t ipv4_size = 4;
constexpr std::size_t ipv4_begin = client_prefix{}.size() - ipv4_size;

void clear_behind(client_prefix& all, std::size_t length) noexcept
{
    for (std::size_t i = length / 8; i < all.size(); ++i) {
        std::size_t const kept = i == length / 8 ? length % 8 : 0;
        all[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
    }
}

} // namespace

client_prefix prefix_of(
    std::span<std::uint8_t const> address, prefix_lengths const& lengths) noexcept
{
    client_prefix made{};
    std::span<std::uint8_t const> const bytes = unmapped(address);
    if (bytes.size() == ipv4_size) {
        made[ipv4_begin - 2] = made[ipv4_begin - 1] = 0xff;
        std::ranges::copy(bytes, made.begin() + ipv4_begin);
        clear_behind(made, ipv4_begin * 8 + lengths.ipv4);
    } else {
        std::ranges::copy(bytes.first(std::min(bytes.size(), made.size())), made.begin());
        clear_behind(made, lengths.ipv6);
    }
    return made;
}

} // namespace cleat::app
