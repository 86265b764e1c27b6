// A message is made and compared in pieces, split anywhere.

#include "generate/websocket_message.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cleat::bench::websocket_message_test {
namespace {

constexpr std::uint64_t number = 0x0123'4567'89AB'CDEF;

std::vector<std::byte> whole(std::uint64_t size)
{
    std::vector<std::byte> bytes(size);
    message_bytes(number, 0, bytes);
    return bytes;
}

TEST_CASE("a message begins with its number and is letters and digits")
{
    std::vector<std::byte> const bytes = whole(5000);
    std::string const text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    CHECK(text.starts_with("0123456789abcdef"));
    CHECK(std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }));
    for (std::size_t shift : {1U, 4U, 16U, 60U, 64U, 128U, 1024U, 4096U}) // Pieces that are moved.
        CHECK(!is_message(number, 500, std::span{bytes}.subspan(500 + shift, 61)));
    CHECK(is_message(number, 500, std::span{bytes}.subspan(500 + 61, 61))); // Its period.
    CHECK(!is_message(number + 1, 0, bytes));
}

TEST_CASE("pieces of any size make the message and are it")
{
    std::vector<std::byte> const bytes = whole(5000);
    for (std::size_t const piece : {1U, 7U, 61U, 1000U, 4999U, 5000U}) {
        std::vector<std::byte> made(bytes.size());
        awaited_echo echo{number, bytes.size()};
        for (std::size_t begin = 0; begin < made.size(); begin += piece) {
            std::span<std::byte> const part =
                std::span{made}.subspan(begin, std::min(piece, made.size() - begin));
            CHECK(echo.end() != nullptr);
            message_bytes(number, begin, part);
            CHECK(echo.take(part) == nullptr);
        }
        CHECK(echo.end() == nullptr);
        CHECK(made == bytes);
    }
}

TEST_CASE("the bytes of a frame do not depend on the blocks that they are made in")
{
    masking_key const key{std::byte{9}, std::byte{8}, std::byte{7}, std::byte{6}};
    for (std::uint64_t const size : {0U, 5U, 200U, 70'000U}) {
        std::vector<std::byte> first(size + frame_head_max);
        outgoing_message one{opcode::binary, number, size, key};
        first.resize(one.make(first));
        CHECK(one.is_over());
        for (std::size_t const block : {1U, 3U, 13U, 1021U}) {
            outgoing_message again{opcode::binary, number, size, key};
            std::vector<std::byte> all;
            std::vector<std::byte> part(block);
            while (!again.is_over())
                all.insert(
                    all.end(), part.begin(),
                    part.begin() + static_cast<std::ptrdiff_t>(again.make(part)));
            REQUIRE(all == first);
        }
    }
}

} // namespace
} // namespace cleat::bench::websocket_message_test
