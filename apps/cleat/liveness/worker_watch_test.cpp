#include "liveness/worker_watch.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

namespace cleat::app::worker_watch_test {
namespace {

using namespace std::chrono_literals;
using time = worker_watch::clock::time_point;

constexpr time start = time{} + 1h;

// Two workers, which answer at once unless they are stopped.
struct scene
{
    std::array<bool, 2> is_stopped{};
    std::array<bool, 2> is_waiting{};
    std::array<int, 2> questions{};
    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::info};
    worker_watch watch{{worker(0), worker(1)}};

    watched_worker worker(std::size_t number)
    {
        return {
            [this, number] {
                ++questions[number];
                is_waiting[number] = is_stopped[number];
            },
            [this, number] { return is_waiting[number]; }};
    }

    void release(std::size_t number) { is_stopped[number] = is_waiting[number] = false; }

    // The lines of the log so far.
    std::string logged()
    {
        sink.reset();
        return folder.read("log");
    }
};

TEST_CASE("workers that answer are asked each second, and not named")
{
    scene s;
    for (auto const after : {0ms, 500ms, 1000ms, 1500ms, 2000ms})
        s.watch.look(start + after, s.log);
    CHECK(s.questions == std::array{3, 3});
    CHECK(s.watch.counts()->holds == 0);
    CHECK(s.watch.next_look() == start + 3s);
    CHECK(s.logged().empty());
}

TEST_CASE("a worker that owes an answer for two seconds is named once, and when it is back")
{
    scene s;
    s.watch.look(start, s.log);
    s.is_stopped[1] = true;
    s.watch.look(start + 1s, s.log);
    s.watch.look(start + 2s, s.log);
    CHECK(s.watch.counts()->held == 0);
    s.watch.look(start + 3s, s.log);
    CHECK(s.watch.counts()->held == 1);
    s.watch.look(start + 4s, s.log);
    CHECK(s.questions == std::array{5, 2});
    s.release(1);
    s.watch.look(start + 5s, s.log);
    CHECK(s.questions == std::array{6, 3});
    CHECK(s.watch.counts()->holds == 1);
    CHECK(s.watch.counts()->held == 0);
    std::string const lines = s.logged();
    CHECK(lines.find("level=warning event=worker-held worker=1 for_ms=2000\n") != lines.npos);
    CHECK(lines.find("level=warning event=worker-back worker=1 held_ms=4000\n") != lines.npos);
    CHECK(lines.find("worker=0") == lines.npos);
}

TEST_CASE("a service manager's watchdog hears within its own time that a worker is held")
{
    scene s;
    s.watch.ask_every(100ms);
    s.watch.look(start, s.log);
    s.is_stopped[0] = true;
    s.watch.look(start + 100ms, s.log);
    CHECK(s.watch.are_alive(start + 100ms, 100ms));
    s.watch.look(start + 200ms, s.log);
    CHECK_FALSE(s.watch.are_alive(start + 200ms, 100ms));
    CHECK(s.watch.are_alive(start + 200ms, 1s));
}

} // namespace
} // namespace cleat::app::worker_watch_test
