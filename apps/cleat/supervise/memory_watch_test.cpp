#include "supervise/memory_watch.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace cleat::app::memory_watch_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

// A process whose memory is a number, and whose workers are the last share that was given.
struct process
{
    std::atomic<std::uint64_t> used{10 * mib};
    std::atomic<int> trims{0};
    std::atomic<int> gives{0};
    std::atomic<int> wakes{0};
    std::atomic<memory_share> given{};
    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::warning};

    memory_watch watch{
        {.count = [](memory_reading& reading) { reading.connections = 1; },
         .give =
             [this](memory_share share) {
                 given = share;
                 ++gives;
                 gives.notify_all();
             },
         .trim = [this] { ++trims; },
         .wake = [this] { ++wakes; },
         .gauge =
             [this] {
                 return [this] {
                     errno = EMFILE;
                     return used.load();
                 };
             }}};

    // Until the workers have been given a share of this level.
    void await(memory_level level)
    {
        for (int seen = gives; given.load().level != level; seen = gives)
            gives.wait(seen);
    }

    // The level of a share, which is change `number`, is published after it was given.
    void await_published(memory_level level, std::uint64_t number)
    {
        await(level);
        while (watch.counts()->changes != number)
            std::this_thread::yield();
    }
};

} // namespace

TEST_CASE("the levels follow the memory in use, and the log says so")
{
    process p;
    p.watch.follow(100 * mib);
    p.used = 82 * mib;
    p.await_published(memory_level::tight, 1);
    p.watch.look(p.log);
    p.used = 95 * mib;
    p.await_published(memory_level::full, 2);
    CHECK(p.given.load().admitted == 0);
    p.watch.look(p.log);
    p.watch.look(p.log); // Nothing new.
    p.used = 10 * mib;
    p.await_published(memory_level::normal, 3);
    p.watch.look(p.log);
    std::string const lines = p.folder.read("log");
    CHECK(
        lines.find("event=memory-level to=tight from=normal in_use=85983232 "
                   "max_memory=104857600\n") != std::string::npos);
    CHECK(lines.find("to=full from=tight in_use=99614720") != std::string::npos);
    CHECK(lines.find("to=normal from=full in_use=10485760") != std::string::npos);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
    CHECK(p.watch.counts()->changes == 3);
}

TEST_CASE("free memory goes back while memory is short")
{
    process p;
    p.watch.follow(100 * mib);
    p.used = 85 * mib;
    p.await(memory_level::tight);
    while (p.trims == 0) // At the reading after it.
        std::this_thread::yield();
}

TEST_CASE("connections that have stalled end now and then while memory is full, and only then")
{
    process p;
    p.watch.follow(100 * mib);
    p.used = 85 * mib;
    p.await(memory_level::tight);
    for (int seen = p.gives; p.trims == 0; seen = p.gives) {
        CHECK(p.given.load().evictions == 0);
        p.gives.wait(seen);
    }
    p.used = 95 * mib;
    memory_share before;
    int others = 0;
    for (int seen = p.gives; before.evictions < 2 || others < 2; seen = p.gives) {
        memory_share const now = p.given;
        others += now.level == memory_level::full && now.evictions == before.evictions ? 1 : 0;
        before = now;
        p.gives.wait(seen);
    }
}

TEST_CASE("readings that fail are counted, and logged in one line")
{
    process p;
    p.watch.follow(100 * mib);
    p.used = 95 * mib;
    p.await_published(memory_level::full, 1);
    p.used = 0; // As where the gauge cannot be read.
    while (p.watch.counts()->failures < 3)
        std::this_thread::yield();
    CHECK(p.wakes >= 2);
    p.watch.look(p.log);
    p.watch.look(p.log);
    CHECK(p.given.load().level == memory_level::full);
    std::string const lines = p.folder.read("log");
    std::string const line =
        "level=warning event=memory-not-read reason=\"Too many open files\" count=";
    std::size_t const begin = lines.find(line);
    REQUIRE(begin != std::string::npos);
    CHECK(std::stoul(lines.substr(begin + line.size())) >= 3);
    CHECK(lines.find("cure=", begin) != std::string::npos);
    CHECK(lines.find(line, begin + 1) == std::string::npos);
    p.used = 10 * mib;
    p.await_published(memory_level::normal, 2);
}

TEST_CASE("another limit counts from its reading on, and without one nothing is short")
{
    process p;
    p.used = 300 * mib;
    p.watch.follow(310 * mib);
    p.await_published(memory_level::full, 1);
    CHECK(p.watch.counts()->limit == 310 * mib);
    p.watch.follow(1024 * mib);
    p.await_published(memory_level::normal, 2);
    p.watch.follow(310 * mib);
    p.await_published(memory_level::full, 3);
    p.watch.follow(0);
    p.await_published(memory_level::normal, 4);
    CHECK(p.given.load() == memory_share{});
    CHECK(p.watch.counts()->limit == 0);
}

} // namespace cleat::app::memory_watch_test
