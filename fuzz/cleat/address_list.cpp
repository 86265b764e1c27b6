#include "admission/address_list.hpp"
#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace cleat::fuzz {
namespace {

template <std::size_t N>
bool has(app::prefix<N> const& prefix, std::span<std::uint8_t const> address)
{
    for (std::size_t bit = 0; bit < prefix.length; ++bit)
        if (((address[bit / 8] ^ prefix.bytes[bit / 8]) & (0x80U >> (bit % 8))) != 0)
            return false;
    return true;
}

// The slow answer to the same question.
bool is_listed(app::prefixes const& all, std::span<std::uint8_t const> address)
{
    if (address.size() == 4)
        return std::ranges::any_of(all.ipv4, [&](auto const& each) { return has(each, address); });
    return std::ranges::any_of(all.ipv6, [&](auto const& each) { return has(each, address); });
}

} // namespace

// The first 16 bytes are an address, the rest is the text of a file.
void address_list(octets input)
{
    input_reader from{input};
    std::array<std::uint8_t, 16> asked{};
    std::ranges::copy(from.take(asked.size()), asked.begin());
    app::prefixes all;
    app::line_faults const faults = app::add_lines(all, text_of(from.rest()));
    CLEAT_ASSERT(faults.first.size() <= faults.count);
    app::address_list const list{all};
    for (std::size_t const size : {std::size_t{4}, std::size_t{16}}) {
        std::span<std::uint8_t const> const address = std::span{asked}.first(size);
        CLEAT_ASSERT(list.contains(address) == is_listed(all, app::unmapped(address)));
    }
    // The first and the last address of each prefix.
    for (auto const& each : all.ipv6)
        CLEAT_ASSERT(list.contains(each.bytes) == is_listed(all, app::unmapped(each.bytes)));
    for (auto const& each : all.ipv4)
        CLEAT_ASSERT(list.contains(each.bytes));
}

} // namespace cleat::fuzz
