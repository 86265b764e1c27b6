#include "admission/address_list.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <arpa/inet.h>

namespace cleat::app {
namespace {

constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

list_fault no_prefix(std::string_view text)
{
    return {
        fmt::format("\"{}\" is no address and no prefix", text),
        "Write 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32."};
}

template <std::size_t N>
int family = N == 4 ? AF_INET : AF_INET6;

template <std::size_t N>
bool read_address(std::string_view text, std::array<std::uint8_t, N>& bytes)
{
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    if (text.size() >= terminated.size() || text.find('\0') != text.npos)
        return false;
    std::ranges::copy(text, terminated.begin());
    return inet_pton(family<N>, terminated.data(), bytes.data()) == 1;
}

template <std::size_t N>
std::string prefix_text(prefix<N> const& one)
{
    std::array<char, INET6_ADDRSTRLEN> room{};
    inet_ntop(family<N>, one.bytes.data(), room.data(), socklen_t{INET6_ADDRSTRLEN});
    return fmt::format("{}/{}", room.data(), one.length);
}

// The bits of the prefix only.
template <std::size_t N>
prefix<N> cut(prefix<N> one)
{
    for (std::size_t i = 0; i < N; ++i) {
        std::size_t const before = i * 8;
        std::size_t const kept =
            one.length > before ? std::min<std::size_t>(one.length - before, 8) : 0;
        one.bytes[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
    }
    return one;
}

template <std::size_t N>
std::optional<list_fault> read_prefix(
    std::string_view text, std::string_view address, std::optional<std::string_view> length,
    std::vector<prefix<N>>& networks)
{
    prefix<N> made{.length = N * 8};
    if (!read_address(address, made.bytes))
        return no_prefix(text);
    if (length) {
        char const* const last = length->data() + length->size();
        auto const [end, ec] = std::from_chars(length->data(), last, made.length);
        bool const has_zero = length->size() > 1 && length->front() == '0';
        if (ec != std::errc{} || end != last || has_zero || made.length > N * 8)
            return list_fault{
                fmt::format(
                    "the length of the prefix \"{}\" is no number from 0 to {}", text, N * 8),
                fmt::format("Write, for example, {}/{}.", address, N * 8)};
    }
    if (prefix<N> const shorter = cut(made); shorter != made)
        return list_fault{
            fmt::format("\"{}\" has bits behind the length of its prefix", text),
            fmt::format(
                "Write {} for the network, or {} for the address.", prefix_text(shorter), address)};
    if constexpr (N == 16)
        if (std::equal(mapped.begin(), mapped.end(), made.bytes.begin()))
            return list_fault{
                fmt::format("\"{}\" is an IPv4 address in the form of IPv6", text),
                "Write it as an IPv4 address: a client that comes by IPv4 has one."};
    networks.push_back(made);
    return {};
}

std::string_view without_blanks(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\f\v";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

} // namespace

std::optional<list_fault> add_prefix(prefixes& networks, std::string_view text)
{
    std::size_t const slash = text.find('/');
    std::string_view const address = text.substr(0, slash);
    std::optional<std::string_view> length;
    if (slash != text.npos)
        length = text.substr(slash + 1);
    if (address.find(':') != address.npos)
        return read_prefix(text, address, length, networks.ipv6);
    return read_prefix(text, address, length, networks.ipv4);
}

line_faults add_lines(prefixes& networks, std::string_view text)
{
    line_faults found;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = without_blanks(line.substr(0, line.find_first_of("#;")));
        if (line.empty())
            continue;
        std::optional<list_fault> fault = add_prefix(networks, line);
        if (fault && found.count++ < limits::address_list_faults_max)
            found.first.push_back({number, *std::move(fault)});
    }
    return found;
}

std::span<std::uint8_t const> unmapped(std::span<std::uint8_t const> address) noexcept
{
    bool const is_mapped =
        address.size() == 16 && std::equal(mapped.begin(), mapped.end(), address.begin());
    return is_mapped ? address.subspan(mapped.size()) : address;
}

bool address_list::contains(std::span<std::uint8_t const> address) const noexcept
{
    address = unmapped(address);
    if (address.size() == 4) {
        prefix_tree<4>::address wanted{};
        std::ranges::copy(address, wanted.begin());
        return ipv4_.contains(wanted);
    }
    if (address.size() != 16)
        return false;
    prefix_tree<16>::address wanted{};
    std::ranges::copy(address, wanted.begin());
    return ipv6_.contains(wanted);
}

} // namespace cleat::app
