#include "access/access_log.hpp"
#include "access/access_log_watch.hpp"
#include "system/file_size_limit_for_tests.hpp"

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
#include <sys/inotify.h>
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
    auto const end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
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

TEST_CASE("lines that are left at the end are lost and counted, also after a reload")
{
    temporary_folder const folder;
    std::unique_ptr<log_sink> const sink = open(folder.path() / "log");
    logger const errors{*sink, log_level::warning};
    access_log_watch watch;
    auto first = std::make_shared<access_log>(open("/dev/full"), std::string{}, one_worker);
    watch.follow(first);
    first->write(0, "one\n");
    first->write(0, "two\n");
    CHECK(watch.lost_before()->load() == 0);

    auto const second = std::make_shared<access_log>(open("/dev/full"), std::string{}, one_worker);
    watch.follow(second);
    first->write(0, "of an older connection\n");
    access_log_watch::clock::time_point now = access_log_watch::clock::now();
    watch.look(errors, now);
    CHECK(watch.lost_before()->load() == 0); // They wait.
    first.reset();
    now += limits::access_log_look_interval;
    watch.look(errors, now);
    CHECK(watch.lost_before()->load() == 3);
    std::string const text = folder.read("log");
    CHECK(text.find("event=access-lines-lost count=3 reason=\"No space left") != std::string::npos);

    second->write(0, "four\n");
    second->end();
    CHECK(second->lines_lost() == 1);
    watch.finish(errors);
    CHECK(folder.read("log").find("event=access-lines-lost count=1 ") != std::string::npos);
    std::string const whole = folder.read("log");
    watch.finish(errors); // Once.
    CHECK(folder.read("log") == whole);
}

TEST_CASE("facts from before a reload do not count a line twice")
{
    access_log_watch watch;
    auto const first = std::make_shared<access_log>(open("/dev/full"), std::string{}, one_worker);
    watch.follow(first);
    auto const before = watch.lost_before();
    first->write(0, std::string(limits::access_log_ring, 'x') + "\n");
    CHECK(before->load() + first->lines_lost() == 1);
    watch.follow(nullptr);
    CHECK(before->load() + first->lines_lost() == 1);
    CHECK(watch.lost_before()->load() == 1);
}

TEST_CASE("a log that a reload has replaced, and that ends with the program, is reported, too")
{
    temporary_folder const folder;
    std::unique_ptr<log_sink> const sink = open(folder.path() / "log");
    logger const errors{*sink, log_level::warning};
    access_log_watch watch;
    auto const first = std::make_shared<access_log>(open("/dev/full"), std::string{}, one_worker);
    watch.follow(first);
    watch.follow(nullptr);
    access_log_watch::clock::time_point const now = access_log_watch::clock::now();
    watch.look(errors, now);
    first->write(0, "of a connection that the end has cut off\n");
    first->end();
    watch.look(errors, now); // Too early for another look.
    CHECK(folder.read("log").empty());
    watch.finish(errors);
    CHECK(folder.read("log").find("event=access-lines-lost count=1 ") != std::string::npos);
}

TEST_CASE("a line of which a full disk has taken a part goes on before another worker's")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    std::string const torn = std::string(99, 'b') + "\n";
    auto const made = std::make_unique<access_log>(open(path), path, 2);
    access_log& log = *made;
    {
        file_size_limit const disk{50};
        log.write(1, torn);
        wait_until([&] { return log.obstacle() == boost::system::errc::file_too_large; });
        log.write(0, "a\n");
    }
    wait_until([&] { return folder.read("access").size() == torn.size() + 2; });
    CHECK(folder.read("access") == torn + "a\n");
}

TEST_CASE("a new file begins with all of a line of which a full disk has taken a part")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    std::string const torn = std::string(99, 'b') + "\n";
    bool has_signal = false;
    SUBCASE("after a signal")
    {
        has_signal = true;
    }
    SUBCASE("without one") {}
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    {
        file_size_limit const disk{50};
        log.write(0, torn);
        wait_until([&] { return log.obstacle() == boost::system::errc::file_too_large; });
        std::filesystem::rename(path, folder.path() / "access.1");
        if (has_signal)
            REQUIRE_FALSE(log.reopen().error);
        wait_until([&] { return folder.read("access").size() == 50; });
    }
    log.write(0, "next\n");
    wait_until([&] { return folder.read("access").ends_with("next\n"); });
    CHECK(folder.read("access") == torn + "next\n");
    CHECK(folder.read("access.1") == torn.substr(0, 50));
}

TEST_CASE("a name that cannot be opened again is tried once in a while, not for each batch")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    std::filesystem::rename(path, folder.path() / "access.1");
    folder.write("other", "");
    std::filesystem::create_hard_link(folder.path() / "other", path); // Which is refused.
    unique_fd const events{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    REQUIRE(::inotify_add_watch(events.get(), path.c_str(), IN_OPEN) >= 0);
    auto const begin = std::chrono::steady_clock::now();
    std::string expected;
    int opens = 0;
    for (int i = 0; i != 10; ++i) {
        log.write(0, "line\n");
        expected += "line\n";
        wait_until([&] { return folder.read("access.1") == expected; });
        inotify_event event{};
        while (::read(events.get(), &event, sizeof event) > 0)
            ++opens;
    }
    auto const time = std::chrono::steady_clock::now() - begin;
    CHECK(opens >= 1);
    CHECK(opens <= 1 + time / limits::access_log_rotation_interval);
    CHECK(folder.read("other").empty());
}

TEST_CASE("a signal brings another file at once, also where no line waits")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "access";
    auto const made = std::make_unique<access_log>(open(path), path, one_worker);
    access_log& log = *made;
    auto const is_named = [&] {
        struct stat ours
        {
        };
        struct stat named
        {
        };
        REQUIRE(::fstat(log.sink().native_handle(), &ours) == 0);
        REQUIRE(::stat(path.c_str(), &named) == 0);
        return ours.st_ino == named.st_ino;
    };
    std::filesystem::rename(path, folder.path() / "access.1");
    REQUIRE_FALSE(log.reopen().error);
    wait_until(is_named);
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

TEST_CASE("a slow reader gets the lines of a worker beside those of a busy one")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "fifo";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    unique_fd const reader{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(reader);
    auto const made = std::make_unique<access_log>(open(path), path, 2);
    access_log& log = *made;
    std::string const busy = std::string(1023, 'b') + "\n";
    for (std::size_t i = 0; i != limits::access_log_ring / busy.size(); ++i)
        log.write(0, busy);
    wait_until(
        [&] { return log.obstacle() == boost::system::errc::resource_unavailable_try_again; });
    log.write(1, "quiet\n");
    // The busy worker's ring is never empty: each line that is read makes room for another one.
    std::string text;
    std::array<char, 1024> block{};
    wait_until([&] {
        ssize_t const n = ::read(reader.get(), block.data(), block.size());
        if (n > 0)
            text.append(block.data(), static_cast<std::size_t>(n));
        if (n > 0)
            log.write(0, busy);
        return text.find("quiet\n") != std::string::npos;
    });
    CHECK(text.find("quiet\n") < 2 * limits::access_log_ring);
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
