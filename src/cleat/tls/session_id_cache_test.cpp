// session_id_cache: which sessions it keeps, for how long, and in how many bytes.

#include <cleat/tls/session_id_cache.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <malloc.h>

namespace cleat::tls::session_id_cache_test {
namespace {

using namespace std::chrono_literals;

constexpr session_id_cache::clock::time_point start{1'800'000'000s};

session_id id_of(std::uint32_t number, std::size_t worker = 0)
{
    session_id id{};
    std::uint64_t const random = number * 0x9e37'79b9'7f4a'7c15U;
    std::memcpy(id.data() + 2, &random, sizeof random);
    name_worker(id, worker);
    return id;
}

std::vector<std::byte> session_of(std::uint32_t number, std::size_t size = 200)
{
    std::vector<std::byte> encoded(size);
    std::memcpy(encoded.data(), &number, sizeof number);
    return encoded;
}

struct fixture
{
    session_id_cache cache{0, 3};

    explicit fixture(std::size_t sessions_max = 3) { cache.bound(sessions_max, 60s); }

    void keep(std::uint32_t number, std::size_t size = 200, std::chrono::seconds later = 0s)
    {
        cache.keep(id_of(number), session_of(number, size), start + later);
    }

    bool has(std::uint32_t number, std::size_t size = 200, std::chrono::seconds later = 0s)
    {
        std::span<std::byte const> const found = cache.find(id_of(number), start + later);
        std::vector<std::byte> const expected = session_of(number, size);
        return std::ranges::equal(found, expected);
    }
};

TEST_CASE_FIXTURE(fixture, "a session is found by its ID, until it is too old")
{
    keep(1);
    CHECK(has(1));
    CHECK(has(1, 200, 59s));
    CHECK(!has(1, 200, 60s));
    CHECK(!has(2));
}

TEST_CASE_FIXTURE(fixture, "the oldest sessions give way, and those that are too old go first")
{
    for (std::uint32_t i = 0; i < 4; ++i)
        keep(i);
    CHECK(cache.size() == 3);
    CHECK(!has(0));
    CHECK(has(3));
    keep(9, 200, 60s);
    CHECK(cache.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "large sessions take the room of several")
{
    keep(0);
    keep(1, 1'400);
    keep(2, 1'400);
    CHECK(cache.size() == 2);
    CHECK(!has(0));
    CHECK(cache.memory() <= 3 * limits::cached_session_size);
    keep(3, 3'500); // More than all may take.
    CHECK(!has(3, 3'500));
    CHECK(has(2, 1'400));
}

TEST_CASE("a cache can have another size while it has sessions, and none")
{
    fixture t{8};
    for (std::uint32_t i = 0; i < 8; ++i)
        t.keep(i);
    t.cache.bound(100, 60s);
    for (std::uint32_t i = 8; i < 100; ++i)
        t.keep(i);
    for (std::uint32_t i = 0; i < 100; ++i)
        CHECK(t.has(i));
    t.cache.bound(2, 60s);
    CHECK(t.cache.size() == 2);
    CHECK(t.has(98));
    CHECK(t.has(99));
    t.cache.bound(0, 60s);
    CHECK(t.cache.size() == 0);
    CHECK(t.cache.memory() == 0);
    t.keep(1);
    CHECK(!t.has(1));
    CHECK(!t.cache.is_elsewhere(id_of(1, 1)));
}

TEST_CASE_FIXTURE(fixture, "an ID names its worker, and is asked for elsewhere where there is one")
{
    CHECK(worker_of(id_of(1, 515)) == 515);
    CHECK(!cache.is_elsewhere(id_of(1, 0)));
    CHECK(cache.is_elsewhere(id_of(1, 2)));
    CHECK(!cache.is_elsewhere(id_of(1, 3)));
}

TEST_CASE_FIXTURE(fixture, "an answer is taken once, and for its own ID")
{
    cache.answer(id_of(1, 1), encoded_session{session_of(1)});
    CHECK(!cache.is_answered(id_of(2, 1)));
    CHECK(!cache.take_answer(id_of(2, 1)));
    CHECK(cache.is_answered(id_of(1, 1)));
    CHECK(cache.take_answer(id_of(1, 1))->bytes().size() == 200);
    CHECK(!cache.take_answer(id_of(1, 1)));
    cache.answer(id_of(2, 1), {});
    CHECK(cache.take_answer(id_of(2, 1))->empty());
}

// The reference says 350 bytes: of a session without a client's certificate, which AWS-LC writes in
// 170 to 200 bytes.
TEST_CASE("a hundred thousand sessions take the bytes that the reference says")
{
    constexpr std::uint32_t count = 100'000;
    fixture t{count};
    std::size_t const before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    for (std::uint32_t i = 0; i < count; ++i)
        t.keep(i);
    std::size_t const used = ::mallinfo2().uordblks + ::mallinfo2().hblkhd - before;
    CHECK(t.cache.size() == count);
    if (used != 0) // A sanitizer's allocator does not count here.
        CHECK(used / count <= 350);
    MESSAGE("bytes of a session: ", used / count);
    for (std::uint32_t i = 0; i < count; i += 1000)
        CHECK(t.has(i));
}

} // namespace
} // namespace cleat::tls::session_id_cache_test
