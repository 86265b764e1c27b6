// The number changes with a real fork() and with a wiped word, also while threads use it.

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

namespace cleat::tls::awslc::uniqueness_test {
namespace {

std::uint64_t current_number()
{
    std::uint64_t number = 0;
    REQUIRE(CRYPTO_get_ube_generation_number(&number) == 1);
    CHECK(CRYPTO_get_fork_ube_generation() == number);
    return number;
}

// The result of `function` in a child process. A child that hangs is killed by its alarm and
// returns nothing.
template <class Result, class Function>
Result in_child(Function function)
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    unique_fd const read_end{ends[0]};
    unique_fd write_end{ends[1]};
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(20);
        Result const result = function();
        ::_exit(::write(write_end.get(), &result, sizeof result) == sizeof result ? 0 : 1);
    }
    write_end.reset();
    Result result{};
    CHECK(::read(read_end.get(), &result, sizeof result) == sizeof result);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return result;
}

using random_bytes = std::array<std::uint8_t, 16>;

random_bytes random_block()
{
    random_bytes bytes{};
    CHECK(RAND_bytes(bytes.data(), bytes.size()) == 1);
    return bytes;
}

} // namespace

TEST_CASE("the number stays as long as nothing has happened, for every thread")
{
    std::uint64_t const before = current_number();
    CHECK(before > 0);
    std::uint64_t elsewhere = 0;
    std::thread{[&] { elsewhere = current_number(); }}.join();
    CHECK(elsewhere == before);
    CHECK(current_number() == before);
}

TEST_CASE("a child has a greater number, a grandchild one greater still")
{
    std::uint64_t const parent = current_number();
    auto const [child, grandchild] = in_child<std::array<std::uint64_t, 2>>([] {
        std::uint64_t const mine = current_number();
        return std::array{mine, in_child<std::uint64_t>([] { return current_number(); })};
    });
    CHECK(child > parent);
    CHECK(grandchild > child);
    CHECK(current_number() == parent);
}

TEST_CASE("no two processes draw the same random bytes")
{
    random_block(); // The generator has a state now, and fork copies it.
    std::set<random_bytes> all;
    for (int i = 0; i < 20; ++i) {
        for (random_bytes const& each : in_child<std::array<random_bytes, 2>>([] {
                 return std::array{random_block(), random_block()};
             }))
            all.insert(each);
        all.insert(random_block());
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
    std::uint64_t const parent = current_number();
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
    auto const number_on = [&](std::uint32_t machine) {
        return number.current([=] { return machine; });
    };
    CHECK(number_on(0) == 1);
    CHECK(number_on(0) == 1);
    CHECK(number_on(7) == 2);
    CHECK(number_on(7) == 2);
    CHECK(number_on(0xffffffff) == 3);
    word = 0; // As after fork().
    CHECK(number_on(0xffffffff) == 4);
}

TEST_CASE("threads that see one event agree on one number, and it is new")
{
    constexpr int threads_count = 4;
    constexpr int events = 2'000;
    std::atomic<std::uint64_t> word{0};
    generation number{&word};
    auto const current = [&] { return number.current([] { return 1U; }); };
    std::atomic<int> arrived{0};
    std::array<std::vector<std::uint64_t>, threads_count> seen;
    auto const meet = [&](int times) { // Waits until every thread has called it so often.
        ++arrived;
        while (arrived < times * threads_count)
            std::this_thread::yield();
    };
    auto const each_thread = [&](int thread) {
        for (int event = 0; event < events; ++event) {
            meet(2 * event + 1);
            seen[static_cast<std::size_t>(thread)].push_back(current());
            meet(2 * event + 2);
            // Wiped before any thread goes on to the next event: each waits for all in meet().
            if (thread == 0)
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

} // namespace cleat::tls::awslc::uniqueness_test
