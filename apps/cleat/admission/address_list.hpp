// address_list: a list of IPv4 and IPv6 prefixes, as an operator writes it, and the question
// whether an address is in it. Pure: it reads no files.

#pragma once

#include "admission/prefix_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {

/// prefixes are those of both families, in any order.
struct prefixes
{
    std::vector<prefix<4>> ipv4;
    std::vector<prefix<16>> ipv6;

    [[nodiscard]] std::size_t size() const noexcept { return ipv4.size() + ipv6.size(); }
};

/// list_fault is a mistake in a list: what is wrong, and a sentence with the cure.
struct list_fault
{
    std::string text;
    std::string cure;
};

/// add_prefix reads one prefix, such as 192.0.2.0/24 or 2001:db8::/32, or an address, which is a
/// prefix of one. A prefix with bits behind its length is a mistake, because nobody can tell
/// whether the address or the length is wrong.
[[nodiscard]] std::optional<list_fault> add_prefix(prefixes& networks, std::string_view text);

/// faulty_line is a line of a file that is no prefix.
struct faulty_line
{
    std::size_t number = 0; ///< From 1.
    list_fault fault;
};

/// line_faults are the first limits::address_list_faults_max of a file, and the count of all.
struct line_faults
{
    std::vector<faulty_line> first;
    std::size_t count = 0;
};

/// add_lines reads a file's text: a prefix on each line. Blank lines and comments, which begin with
/// # or ;, are left out.
[[nodiscard]] line_faults add_lines(prefixes& networks, std::string_view text);

/// unmapped is the IPv4 address where an IPv6 address is one (RFC 4291, section 2.5.5.2), and the
/// address itself otherwise. It is a part of the argument.
[[nodiscard]] std::span<std::uint8_t const> unmapped(
    std::span<std::uint8_t const> address) noexcept;

/// address_list never changes once it is made. Any number of threads may search it.
class address_list
{
public:
    explicit address_list(prefixes all) : ipv4_{std::move(all.ipv4)}, ipv6_{std::move(all.ipv6)} {}

    /// contains takes an address of 4 or 16 bytes in network order, and looks for it unmapped. Any
    /// other size is in no list.
    [[nodiscard]] bool contains(std::span<std::uint8_t const> address) const noexcept;

    /// size is how many prefixes there are, without those that another one contains.
    [[nodiscard]] std::size_t size() const noexcept { return ipv4_.size() + ipv6_.size(); }

    /// memory is what the list takes from the heap, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept { return ipv4_.memory() + ipv6_.memory(); }

    /// Equal lists have the same addresses, from the same prefixes.
    friend bool operator==(address_list const&, address_list const&) = default;

private:
    prefix_tree<4> ipv4_;
    prefix_tree<16> ipv6_;
};

} // namespace cleat::app
