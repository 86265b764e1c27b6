// A program whose cache lines move between threads in a known way. It is compiled with
// -fsanitize=thread and linked with the recorder of cache lines.

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include <pthread.h>

namespace {

constexpr std::size_t line = 64;

struct alignas(line) padded
{
    std::atomic<long> value{0};
};

// Two threads take turns: while one has its turn, the other one only reads `turn`. So each line
// that a turn reads or writes moves exactly once or twice in it.
padded turn;

void take_turns(long turns, std::function<void(int)> const& part)
{
    auto const play = [&](int me, char const* name) {
        ::pthread_setname_np(::pthread_self(), name);
        for (long i = 0; i < turns; ++i) {
            while (turn.value.load(std::memory_order_acquire) != me)
                ;
            part(me);
            turn.value.store(1 - me, std::memory_order_release);
        }
    };
    std::thread left{play, 0, "left"};
    std::thread right{play, 1, "right"};
    left.join();
    right.join();
}

alignas(line) long shared_counter = 0;
std::array<padded, 2> private_counters;
alignas(line) std::array<std::atomic<int>, 2> false_neighbours{};
alignas(line) std::array<char, line> copied_bytes{};
alignas(line) std::array<long, 1024> read_only_table{};
std::atomic<long> sum = 0;

struct alignas(line) box
{
    long value = 0;
};

[[gnu::noinline]] std::unique_ptr<box> make_shared_box()
{
    return std::make_unique<box>();
}

[[gnu::noinline]] void add_to_counter(int)
{
    ++shared_counter;
}

[[gnu::noinline]] void write_neighbour(int me)
{
    false_neighbours[static_cast<std::size_t>(me)].store(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void copy_bytes(int me)
{
    std::array<char, line> own{};
    own[0] = static_cast<char>(me);
    std::size_t const volatile size = own.size(); // Of a known size the compiler makes moves.
    std::memcpy(copied_bytes.data(), own.data(), size);
}

[[gnu::noinline]] void add_in_private(int me)
{
    private_counters[static_cast<std::size_t>(me)].value.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void read_table(int)
{
    long found = 0;
    for (long const each : read_only_table)
        found += each;
    sum.fetch_add(found == 1024 ? 0 : 1);
}

// Threads that do not wait for each other: each adds in a function of its own.
padded contended;

[[gnu::noinline]] void add_left()
{
    contended.value.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void add_right()
{
    contended.value.fetch_add(2, std::memory_order_relaxed);
}

void contend(long times)
{
    auto const add = [&](char const* name, void (*part)()) {
        ::pthread_setname_np(::pthread_self(), name);
        for (long i = 0; i < times; ++i)
            part();
    };
    std::thread left{add, "left", add_left};
    std::thread right{add, "right", add_right};
    left.join();
    right.join();
}

// Two threads, one after the other, get pages that the kernel has just made at one address.
void map_and_unmap(long size)
{
    for (char const* const name : {"left", "right"})
        std::thread{[&] {
            ::pthread_setname_np(::pthread_self(), name);
            void* const block = std::malloc(static_cast<std::size_t>(size));
            std::memset(block, 1, static_cast<std::size_t>(size));
            std::free(block);
        }}.join();
}

[[gnu::noinline]] box* make_box_without_exception()
{
    return new (std::nothrow) box;
}

void without_exception(long turns)
{
    std::unique_ptr<box> const shared{make_box_without_exception()};
    take_turns(turns, [&](int) { ++shared->value; });
}

// `right` reads what `left` has written before it wrote something else in the line.
void read_what_was_written_before(long turns)
{
    struct alignas(line) pair
    {
        std::atomic<long> first{0};
        std::atomic<long> second{0};
    };
    static pair written;
    take_turns(turns, [](int me) {
        if (me == 0) {
            written.first.store(1, std::memory_order_relaxed);
            std::thread{[] {
                ::pthread_setname_np(::pthread_self(), "third");
                sum.store(written.first.load());
            }}.join();
            written.second.store(1, std::memory_order_relaxed);
        } else {
            sum.store(written.first.load(std::memory_order_relaxed));
        }
    });
}

void lock_and_unlock(long turns)
{
    static std::mutex shared_mutex;
    take_turns(turns, [](int) { std::lock_guard const lock{shared_mutex}; });
}

void on_heap(long turns)
{
    std::unique_ptr<box> const shared = make_shared_box();
    take_turns(turns, [&](int) { ++shared->value; });
}

void on_stack(long turns)
{
    alignas(line) long on_my_stack = 0;
    take_turns(turns, [&](int) { ++on_my_stack; });
}

} // namespace

int main(int argc, char** argv)
{
    std::string const what = argc > 1 ? argv[1] : "";
    long const turns = argc > 2 ? std::atol(argv[2]) : 100;
    read_only_table.fill(1);
    if (what == "counter")
        take_turns(turns, add_to_counter);
    else if (what == "neighbours")
        take_turns(turns, write_neighbour);
    else if (what == "copy")
        take_turns(turns, copy_bytes);
    else if (what == "private")
        take_turns(turns, add_in_private);
    else if (what == "table")
        take_turns(turns, read_table);
    else if (what == "mutex")
        lock_and_unlock(turns);
    else if (what == "heap")
        on_heap(turns);
    else if (what == "stack")
        on_stack(turns);
    else if (what == "contend")
        contend(turns);
    else if (what == "map")
        map_and_unmap(turns);
    else if (what == "nothrow")
        without_exception(turns);
    else if (what == "rewritten")
        read_what_was_written_before(turns);
    else
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
