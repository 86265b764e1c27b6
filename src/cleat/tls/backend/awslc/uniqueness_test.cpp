// What RAND_bytes is told of copies: by a real fork(), by a wiped word, and with threads about.

#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/backend/awslc/uniqueness.hpp>

#include <openssl/rand.h>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

extern "C" {
int CRYPTO_get_ube_generation_number(std::uint64_t* number);
std::uint64_t CRYPTO_get_fork_ube_generation();
}

namespace cleat::tls::awslc {
namespace {

std::uint64_t number_here()
{
    std::uint64_t number = 0;
    REQUIRE(CRYPTO_get_ube_generation_number(&number) == 1);
    CHECK(CRYPTO_get_fork_ube_generation() == number);
    return number;
}

// What `does` gives in a child of ours. A child that hangs is killed by its alarm, and tells
// nothing.
template <class Result, class Does>
Result in_child(Does does)
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    unique_fd const from{ends[0]};
    unique_fd to{ends[1]};
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(20);
        Result const result = does();
        ::_exit(::write(to.get(), &result, sizeof result) == sizeof result ? 0 : 1);
    }
    to.reset();
    Result result{};
    CHECK(::read(from.get(), &result, sizeof result) == sizeof result);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return result;
}

using random_bytes = std::array<std::uint8_t, 16>;

random_bytes drawn()
{
    random_bytes bytes{};
    CHECK(RAND_bytes(bytes.data(), bytes.size()) == 1);
    return bytes;
}

} // namespace

TEST_CASE("the number stays as long as nothing has happened, for every thread")
{
    std::uint64_t const before = number_here();
    CHECK(before > 0);
    std::uint64_t elsewhere = 0;
    std::thread{[&] { elsewhere = number_here(); }}.join();
    CHECK(elsewhere == before);
    CHECK(number_here() == before);
}

TEST_CASE("a child has a greater number, a grandchild one greater still")
{
    std::uint64_t const parent = number_here();
    auto const [child, grandchild] = in_child<std::array<std::uint64_t, 2>>([] {
        std::uint64_t const mine = number_here();
        return std::array{mine, in_child<std::uint64_t>([] { return number_here(); })};
    });
    CHECK(child > parent);
    CHECK(grandchild > child);
    CHECK(number_here() == parent);
}

TEST_CASE("no two processes draw the same random bytes")
{
    drawn(); // The generator has a state now, and fork copies it.
    std::set<random_bytes> all;
    for (int i = 0; i < 20; ++i) {
        for (random_bytes const& each : in_child<std::array<random_bytes, 2>>([] {
                 return std::array{drawn(), drawn()};
             }))
            all.insert(each);
        all.insert(drawn());
    }
    CHECK(all.size() == 60);
}

TEST_CASE("a child of a process whose threads draw random bytes is never stuck")
{
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            while (!stop)
                static_cast<void>(CRYPTO_get_fork_ube_generation());
        });
    std::uint64_t const parent = number_here();
    for (int i = 0; i < 50; ++i)
        CHECK(in_child<std::uint64_t>(CRYPTO_get_fork_ube_generation) > parent);
    stop = true;
    for (std::thread& each : threads)
        each.join();
}

TEST_CASE("a machine that was started from a snapshot has another number")
{
    std::atomic<std::uint64_t> word{0};
    generation number{&word};
    auto const on = [&](std::uint32_t machine) { return number.current([=] { return machine; }); };
    CHECK(on(0) == 1);
    CHECK(on(0) == 1);
    CHECK(on(7) == 2);
    CHECK(on(7) == 2);
    CHECK(on(0xffffffff) == 3);
    word = 0; // And it forks.
    CHECK(on(0xffffffff) == 4);
}

TEST_CASE("threads that see one event agree on one number that nobody had before")
{
    constexpr int threads_count = 4;
    constexpr int events = 2'000;
    std::atomic<std::uint64_t> word{0};
    generation number{&word};
    auto const current = [&] { return number.current([] { return 1U; }); };
    std::atomic<int> arrived{0};
    std::array<std::vector<std::uint64_t>, threads_count> seen;
    auto const meet = [&](int times) { // All have come so far.
        ++arrived;
        while (arrived < times * threads_count)
            std::this_thread::yield();
    };
    auto const each_thread = [&](int me) {
        for (int event = 0; event < events; ++event) {
            meet(2 * event + 1);
            seen[static_cast<std::size_t>(me)].push_back(current());
            meet(2 * event + 2);
            // Wiped before anybody goes on to the next event: all wait for all in meet().
            if (me == 0)
                word = 0;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < threads_count; ++i)
        threads.emplace_back(each_thread, i);
    for (std::thread& each : threads)
        each.join();
    std::uint64_t before = 0;
    for (std::size_t event = 0; event < events; ++event) {
        std::uint64_t const first = seen[0][event];
        CHECK(first > before);
        before = first;
        for (auto const& each : seen)
            CHECK(each[event] == first);
    }
}

} // namespace cleat::tls::awslc
