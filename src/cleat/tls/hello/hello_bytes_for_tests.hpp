// hello_bytes: ClientHellos for tests, made byte by byte (RFC 8446, section 4.1.2).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::tls {

using hello_bytes = std::vector<std::uint8_t>;

inline void add_number(hello_bytes& out, std::size_t value, int size)
{
    for (int i = size; i-- != 0;)
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

inline void add_all(hello_bytes& out, hello_bytes const& more)
{
    out.insert(out.end(), more.begin(), more.end());
}

/// with_length is a vector: its length in so many bytes, and the body.
inline hello_bytes with_length(hello_bytes const& body, int length_size)
{
    hello_bytes out;
    add_number(out, body.size(), length_size);
    add_all(out, body);
    return out;
}

/// list_of is a vector of numbers of two bytes.
inline hello_bytes list_of(std::vector<std::uint16_t> const& numbers, int length_size)
{
    hello_bytes body;
    for (std::uint16_t const each : numbers)
        add_number(body, each, 2);
    return with_length(body, length_size);
}

inline hello_bytes extension_of(std::size_t number, hello_bytes const& body)
{
    hello_bytes out;
    add_number(out, number, 2);
    add_all(out, with_length(body, 2));
    return out;
}

/// hello_message is a ClientHello with its header.
inline hello_bytes hello_message(
    hello_bytes const& extensions, std::vector<std::uint16_t> const& suites = {0x1301, 0x1302},
    hello_bytes const& session = hello_bytes(32, 0xbb), std::uint16_t legacy_version = 0x0303)
{
    hello_bytes body;
    add_number(body, legacy_version, 2);
    add_all(body, hello_bytes(32, 0xaa)); // Random.
    add_all(body, with_length(session, 1));
    add_all(body, list_of(suites, 2));
    add_all(body, with_length({0}, 1)); // Compression.
    add_all(body, with_length(extensions, 2));
    hello_bytes out{1};
    add_all(out, with_length(body, 3));
    return out;
}

/// in_records is the message in records of so many bytes.
inline hello_bytes in_records(hello_bytes const& all, std::size_t size)
{
    hello_bytes out;
    for (std::size_t i = 0; i < all.size(); i += size) {
        auto const begin = all.begin() + static_cast<std::ptrdiff_t>(i);
        auto const count = static_cast<std::ptrdiff_t>(std::min(size, all.size() - i));
        add_all(out, {22, 3, 1});
        add_all(out, with_length({begin, begin + count}, 2));
    }
    return out;
}

} // namespace cleat::tls
