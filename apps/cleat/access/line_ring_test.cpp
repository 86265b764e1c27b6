#include "access/line_ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace cleat::app::line_ring_test {
namespace {

// The rings of the tests are on the heap: see access_log_test.cpp. All lines that are in one now.
std::string take(line_ring& ring, std::size_t room = 64)
{
    std::string all;
    std::string block(room, '\0');
    for (;;) {
        std::string_view const lines = ring.copy_lines(block);
        if (lines.empty())
            return all;
        all += lines;
        ring.drop(lines.size());
    }
}

} // namespace

TEST_CASE("lines come out as they went in, around the end of the ring")
{
    auto const made = std::make_unique<line_ring>(64);
    line_ring& ring = *made;
    CHECK(ring.empty());
    for (int i = 0; i != 100; ++i) {
        std::string const line = "line " + std::to_string(i) + "\n";
        ring.push(line);
        ring.push("and another\n");
        CHECK_FALSE(ring.empty());
        CHECK(take(ring) == line + "and another\n");
    }
    CHECK(ring.empty());
    CHECK(ring.lines_lost() == 0);
}

TEST_CASE("a line without room for all of it is lost, and the next shorter one is not")
{
    auto const made = std::make_unique<line_ring>(16);
    line_ring& ring = *made;
    ring.push("123456789\n");
    ring.push("1234567\n");
    CHECK(ring.lines_lost() == 1);
    ring.push("12345\n");
    CHECK(take(ring) == "123456789\n12345\n");
    ring.push("123456789012345\n"); // All of the ring.
    CHECK(take(ring) == "123456789012345\n");
    CHECK(ring.lines_lost() == 1);
}

TEST_CASE("a block gets whole lines only")
{
    auto const made = std::make_unique<line_ring>(64);
    line_ring& ring = *made;
    ring.push("first\n");
    ring.push("second\n");
    std::array<char, 10> block{};
    CHECK(ring.copy_lines(block) == "first\n");
    ring.drop(6);
    CHECK(ring.copy_lines(block) == "second\n");
}

TEST_CASE("no line is torn between two threads, and each is taken or counted as lost")
{
    constexpr std::size_t count = 50'000;
    auto const made = std::make_unique<line_ring>(4096);
    line_ring& ring = *made;
    std::thread pusher{[&] {
        std::string const line = std::string(60, 'x') + "\n";
        for (std::size_t i = 0; i != count; ++i)
            ring.push(line);
    }};
    std::size_t taken = 0;
    std::size_t torn = 0;
    std::string block(1000, '\0');
    while (taken + ring.lines_lost() != count) {
        std::string_view lines = ring.copy_lines(block);
        ring.drop(lines.size());
        for (; !lines.empty(); lines.remove_prefix(61), ++taken)
            if (lines.size() < 61 || lines.substr(0, 61).find_first_not_of('x') != 60)
                ++torn;
    }
    pusher.join();
    CHECK(torn == 0);
    CHECK(take(ring).empty());
}

} // namespace cleat::app::line_ring_test
