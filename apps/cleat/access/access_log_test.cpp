#include "access/access_log.hpp"
#include "access/access_log_watch.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app::access_log_test {
namespace {

// The logs are on the heap: they have a cache line's alignment, which g++ 12 loses in frames that
// AddressSanitizer keeps (its bug 110027).
constexpr std::size_t one_worker = 1;

std::unique_ptr<log_sink> open(std::string const& path)
{
    return log_sink::to_file(path).value();
}

template <class Condition>
void wait_until(Condition condition)
{
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!condition()) {
        REQUIRE(std::chrono::steady_clock::now() < end);
        std::this_thread::yield();
    }
}

} // namespace

TEST_CASE("lines of several workers are all in the file when the log has ended")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    constexpr std::size_t workers = 3;
    constexpr int lines = 1000;
    {
        auto const made = std::make_unique<access_log>(open(path), path, workers);
        access_log& log = *made;
        std::array<std::thread, workers> threads;
        for (std::size_t w = 0; w != workers; ++w)
            threads[w] = std::thread{[&log, w] {
                std::string const line = std::string(100, static_cast<char>('a' + w)) + "\n";
                for (int i = 0; i != lines; ++i)
                    log.write(w, line);
            }};
        for (std::thread& each : threads)
            each.join();
        CHECK(log.lines_lost() == 0);
    }
    std::string const text = folder.read("access");
    CHECK(text.size() == workers * lines * 101);
    for (std::size_t i = 0; i < text.size(); i += 101)
        REQUIRE(text.find_first_not_of(text[i], i) == i + 100);
}

TEST_CASE("a line is written without another one, and again after a pause")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    log.write(0, "one\n");
    wait_until([&] { return folder.read("access") == "one\n"; });
    log.write(0, "two\n");
    wait_until([&] { return folder.read("access") == "one\ntwo\n"; });
}

TEST_CASE("a full disk blocks no worker: lines wait, then are lost and counted")
{
    auto const made = std::make_unique<access_log>(open("/dev/full"), std::string{}, one_worker);
    access_log& log = *made;
    access_log_watch watch;
    watch.follow({std::shared_ptr<void>{}, &log});
    temporary_folder const folder;
    std::unique_ptr<log_sink> const sink = open(folder.path() / "log");
    logger const errors{*sink, log_level::warning};

    log.write(0, "waits\n");
    wait_until([&] { return log.obstacle() == boost::system::errc::no_space_on_device; });
    CHECK(log.lines_lost() == 0);
    access_log_watch::clock::time_point now = access_log_watch::clock::now();
    watch.look(errors, now);
    CHECK(folder.read("log").find("event=access-log-not-written") != std::string::npos);

    std::string const line = std::string(1023, 'x') + "\n";
    for (std::size_t i = 0; i != limits::access_log_ring / line.size() + 2; ++i)
        log.write(0, line);
    CHECK(log.lines_lost() == 3);
    now += limits::access_log_look_interval;
    watch.look(errors, now);
    std::string const text = folder.read("log");
    CHECK(text.find("event=access-lines-lost count=3 reason=\"No space") != std::string::npos);
    // A disk that stays full does not fill another one.
    log.write(0, line);
    watch.look(errors, now + limits::access_log_look_interval);
    CHECK(folder.read("log") == text);
    watch.look(errors, now + limits::access_log_report_interval);
    CHECK(folder.read("log").find("event=access-lines-lost count=1 ") != std::string::npos);
}

TEST_CASE("a reader that stalls gets every line, whole, as long as the ring has room")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    unique_fd const reader{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(reader);
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    std::string const line = std::string(99, 'x') + "\n";
    constexpr std::size_t lines = 2000; // A FIFO holds some 64 KiB.
    for (std::size_t i = 0; i != lines; ++i)
        log.write(0, line);
    wait_until(
        [&] { return log.obstacle() == boost::system::errc::resource_unavailable_try_again; });
    std::string text;
    std::array<char, 65536> block{};
    wait_until([&] {
        pollfd some{reader.get(), POLLIN, 0};
        static_cast<void>(::poll(&some, 1, 100));
        for (ssize_t n = 0; (n = ::read(reader.get(), block.data(), block.size())) > 0;)
            text.append(block.data(), static_cast<std::size_t>(n));
        return text.size() >= lines * line.size();
    });
    CHECK(text.size() == lines * line.size());
    for (std::size_t i = 0; i < text.size(); i += line.size())
        REQUIRE(text.compare(i, line.size(), line) == 0);
    CHECK(log.lines_lost() == 0);
}

TEST_CASE("after a rotation lines go to the new file, with a signal and without")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    log.write(0, "first\n");
    wait_until([&] { return folder.read("access") == "first\n"; });
    std::filesystem::rename(path, folder.path() / "access.1");
    REQUIRE_FALSE(log.reopen().error);
    log.write(0, "second\n");
    wait_until([&] { return folder.read("access") == "second\n"; });

    std::filesystem::rename(path, folder.path() / "access.2");
    folder.write("access", ""); // logrotate's `create`.
    wait_until([&] {
        log.write(0, "third\n");
        return !folder.read("access").empty();
    });
    std::filesystem::rename(path, folder.path() / "access.3");
    wait_until([&] { // The log makes it itself.
        log.write(0, "fourth\n");
        return std::filesystem::exists(path);
    });
    CHECK(folder.read("access.1") == "first\n");
}

} // namespace cleat::app::access_log_test
