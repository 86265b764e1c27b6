#include <cleat/core/byte_queue.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::byte_queue_test {
namespace {

std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text.data(), text.size()});
}

std::string text_of(byte_queue const& queue)
{
    std::span<std::byte const> const front = queue.front();
    return {reinterpret_cast<char const*>(front.data()), front.size()};
}

} // namespace

TEST_CASE("bytes leave in the order in which they came")
{
    byte_queue queue;
    CHECK(queue.empty());
    CHECK(queue.front().empty());
    REQUIRE(queue.append(bytes_of("hello "), 100));
    REQUIRE(queue.append(bytes_of("world"), 100));
    CHECK(text_of(queue) == "hello world");
    queue.consume(3);
    CHECK(text_of(queue) == "lo world");
    CHECK(queue.size() == 8);
    queue.consume(8);
    CHECK(queue.empty());
}

TEST_CASE("bytes that would exceed the bound are refused whole")
{
    byte_queue queue;
    CHECK_FALSE(queue.append(bytes_of("12345"), 4));
    CHECK(queue.empty());
    REQUIRE(queue.append(bytes_of("1234"), 4));
    CHECK_FALSE(queue.append(bytes_of("5"), 4));
    CHECK(queue.append({}, 4));
    CHECK(text_of(queue) == "1234");
    // The bound is for bytes in the queue, not for all that passed through it.
    queue.consume(2);
    CHECK(queue.append(bytes_of("56"), 4));
    CHECK(text_of(queue) == "3456");
    // A smaller bound in a later call removes nothing.
    CHECK_FALSE(queue.append(bytes_of("7"), 1));
    CHECK(text_of(queue) == "3456");
}

TEST_CASE("the largest bound does not overflow")
{
    byte_queue queue;
    std::size_t const endless = std::numeric_limits<std::size_t>::max();
    REQUIRE(queue.append(bytes_of("ab"), endless));
    REQUIRE(queue.append(bytes_of("cd"), endless));
    CHECK(text_of(queue) == "abcd");
}

TEST_CASE("an empty append to an empty queue allocates nothing")
{
    byte_queue queue;
    CHECK(queue.append({}, 100));
    CHECK(queue.empty());
    queue.consume(0);
    queue.clear();
    CHECK(queue.empty());
}

TEST_CASE("a queue that was moved from is empty")
{
    byte_queue queue;
    REQUIRE(queue.append(bytes_of("x"), 1));
    byte_queue const other = std::move(queue);
    CHECK(text_of(other) == "x");
    CHECK(queue.empty()); // NOLINT: promised
}

TEST_CASE("any mixture of appends and consumes behaves like a string")
{
    std::mt19937 random{20261121};
    byte_queue queue;
    std::string model;
    std::size_t const size_max = 300;
    for (int step = 0; step != 20'000; ++step) {
        if (random() % 2 == 0) {
            std::string const more(random() % 64, static_cast<char>('a' + random() % 26));
            bool const fits = model.size() + more.size() <= size_max;
            REQUIRE(queue.append(bytes_of(more), size_max) == fits);
            if (fits)
                model += more;
        } else {
            std::size_t const n = random() % (model.size() + 1);
            queue.consume(n);
            model.erase(0, n);
        }
        REQUIRE(text_of(queue) == model);
        REQUIRE(queue.empty() == model.empty());
    }
}

} // namespace cleat::byte_queue_test
