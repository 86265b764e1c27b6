#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "system/file_size_limit_for_tests.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

namespace cleat::app::log_sink_test {
namespace {

// The system's log daemon.
struct log_daemon
{
    explicit log_daemon(std::string const& path)
        : socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        REQUIRE(path.size() < sizeof address.sun_path);
        std::memcpy(static_cast<char*>(address.sun_path), path.data(), path.size());
        ::unlink(path.c_str());
        REQUIRE(
            ::bind(socket.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0);
    }
    [[nodiscard]] std::string next() const
    {
        std::array<char, 4096> line{};
        ssize_t const n = ::recv(socket.get(), line.data(), line.size(), 0);
        return n < 0 ? std::string{} : std::string{line.data(), static_cast<std::size_t>(n)};
    }
    unique_fd socket;
};

// A pipe that a test reads when it wants to.
struct log_pipe
{
    log_pipe()
    {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        reader.reset(ends[0]);
        writer.reset(ends[1]);
        REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
        sink = log_sink::to_descriptor(ends[1]);
    }
    // All that is in it now.
    [[nodiscard]] std::string read() const
    {
        std::string text;
        std::array<char, 65536> block{};
        for (ssize_t n = 0; (n = ::read(reader.get(), block.data(), block.size())) > 0;)
            text.append(block.data(), static_cast<std::size_t>(n));
        return text;
    }
    unique_fd reader;
    unique_fd writer;
    std::unique_ptr<log_sink> sink;
};

} // namespace

TEST_CASE("a file is appended to, and belongs to its owner and group")
{
    temporary_folder const folder;
    folder.write("log", "before\n");
    for (char const* line : {"one\n", "two\n"}) {
        auto const sink = log_sink::to_file(folder.path() / "log");
        REQUIRE(sink.has_value());
        (*sink)->write(line);
    }
    CHECK(folder.read("log") == "before\none\ntwo\n");

    REQUIRE(log_sink::to_file(folder.path() / "new").has_value());
    struct stat about
    {
    };
    REQUIRE(::stat((folder.path() / "new").c_str(), &about) == 0);
    CHECK((about.st_mode & 07137) == 0);
}

TEST_CASE("a file that cannot be opened is the system's error")
{
    temporary_folder const folder;
    auto const sink = log_sink::to_file(folder.path() / "missing" / "log");
    REQUIRE(!sink);
    CHECK(sink.error() == boost::system::errc::no_such_file_or_directory);
}

TEST_CASE("a link that another user may have planted is not written to")
{
    temporary_folder const folder;
    folder.write("target", "precious\n");
    std::filesystem::create_symlink(folder.path() / "target", folder.path() / "symbolic");
    std::filesystem::create_symlink(folder.path() / "nothing", folder.path() / "dangling");
    std::filesystem::create_hard_link(folder.path() / "target", folder.path() / "hard");

    for (char const* name : {"symbolic", "dangling"}) {
        auto const sink = log_sink::to_file(folder.path() / name);
        REQUIRE(!sink);
        CHECK(sink.error() == boost::system::errc::too_many_symbolic_link_levels);
    }
    auto const hard = log_sink::to_file(folder.path() / "hard");
    REQUIRE(!hard);
    CHECK(hard.error() == boost::system::errc::too_many_links);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "nothing"));

    // Nor after a rotation.
    auto const opened = log_sink::to_file(folder.path() / "log");
    REQUIRE(opened.has_value());
    std::filesystem::rename(folder.path() / "log", folder.path() / "log.1");
    std::filesystem::create_symlink(folder.path() / "target", folder.path() / "log");
    CHECK((*opened)->reopen().error == boost::system::errc::too_many_symbolic_link_levels);
    (*opened)->write("here\n");
    CHECK(folder.read("log.1") == "here\n");
    CHECK(folder.read("target") == "precious\n");
}

TEST_CASE("only a file that to_file created is given to another user")
{
    constexpr uid_t other_user = 54321;
    temporary_folder const folder;
    folder.write("old", "before\n");
    for (char const* name : {"old", "new"}) {
        auto const sink = log_sink::to_file(folder.path() / name);
        REQUIRE(sink.has_value());
        (*sink)->give_to(other_user, other_user);
    }
    auto const owner = [&](char const* name) {
        struct stat about
        {
        };
        REQUIRE(::stat((folder.path() / name).c_str(), &about) == 0);
        return about.st_uid;
    };
    CHECK(owner("old") == ::geteuid());
    CHECK(owner("new") == (::geteuid() == 0 ? other_user : ::geteuid()));
    // A device always exists before.
    auto const null = log_sink::to_file("/dev/null");
    REQUIRE(null.has_value());
    CHECK((*null)->write("nowhere\n"));
    CHECK_FALSE((*null)->reopen().error);
}

TEST_CASE("/dev/stdout is descriptor 1, though it is a link")
{
    temporary_folder const folder;
    unique_fd const kept{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)};
    unique_fd const file{
        ::open((folder.path() / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    REQUIRE((kept && file));
    REQUIRE(::dup2(file.get(), STDOUT_FILENO) == STDOUT_FILENO);
    auto const sink = log_sink::to_file("/dev/stdout");
    REQUIRE(::dup2(kept.get(), STDOUT_FILENO) == STDOUT_FILENO);
    REQUIRE(sink.has_value());
    (*sink)->write("to the copy\n");
    CHECK_FALSE((*sink)->reopen().error);
    CHECK(folder.read("out") == "to the copy\n");
}

TEST_CASE("after a rotation lines go to the new file")
{
    temporary_folder const folder;
    auto const opened = log_sink::to_file(folder.path() / "log");
    REQUIRE(opened.has_value());
    log_sink& sink = **opened;
    sink.write("old\n");
    std::filesystem::rename(folder.path() / "log", folder.path() / "log.1");
    sink.write("still old\n");
    REQUIRE_FALSE(sink.reopen().error);
    sink.write("new\n");
    CHECK(folder.read("log.1") == "old\nstill old\n");
    CHECK(folder.read("log") == "new\n");
}

TEST_CASE("a rotation that fails keeps the old file")
{
    temporary_folder const folder;
    std::filesystem::create_directory(folder.path() / "logs");
    auto const opened = log_sink::to_file(folder.path() / "logs" / "log");
    REQUIRE(opened.has_value());
    std::filesystem::rename(folder.path() / "logs", folder.path() / "moved");
    CHECK((*opened)->reopen().error == boost::system::errc::no_such_file_or_directory);
    (*opened)->write("here\n");
    CHECK(folder.read("moved/log") == "here\n");
}

TEST_CASE("no line is lost or torn while workers write and the file is rotated")
{
    temporary_folder const folder;
    auto const opened = log_sink::to_file(folder.path() / "log");
    REQUIRE(opened.has_value());
    log_sink& sink = **opened;
    int const lines = 2000;
    std::array<std::thread, 2> workers;
    std::atomic<int> running{0};
    for (std::size_t w = 0; w != workers.size(); ++w)
        workers[w] = std::thread{[&sink, &running, w] {
            std::string const line(100, static_cast<char>('a' + w));
            ++running;
            for (int i = 0; i != lines; ++i)
                sink.write(line + "\n");
            --running;
        }};
    int files = 0;
    do {
        std::filesystem::rename(
            folder.path() / "log", folder.path() / ("log." + std::to_string(files++)));
        if (sink.reopen().error)
            break;
    } while (running != 0 && files != 50);
    for (std::thread& each : workers)
        each.join();

    int whole = 0;
    for (auto const& file : std::filesystem::directory_iterator{folder.path()}) {
        std::ifstream text{file.path()};
        for (std::string line; std::getline(text, line); ++whole) {
            REQUIRE(line.size() == 100);
            REQUIRE(line.find_first_not_of(line[0]) == std::string::npos);
        }
    }
    CHECK(whole == 2 * lines);
    CHECK(sink.lines_lost() == 0);
}

TEST_CASE("a line that cannot be written is counted")
{
    unique_fd const full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
    REQUIRE(full);
    auto const sink = log_sink::to_descriptor(full.get());
    sink->write("lost\n");
    CHECK(sink->lines_lost() == 1);
    CHECK_FALSE(sink->reopen().error);
}

TEST_CASE("a reader that stalls blocks no writer, and a later line reports the lost ones")
{
    log_pipe const pipe;
    log_sink* const sink = pipe.sink.get();
    logger const log{*sink, log_level::info};

    std::uint64_t written = 0;
    while (sink->lines_lost() < 3) {
        log.info("stranger").add("number", written++);
        REQUIRE(written < 10'000); // A pipe holds some 64 KiB.
    }
    CHECK(written > 100);

    // After the pipe is empty, the next line is followed by the number of lost ones.
    std::string const text = pipe.read();
    CHECK(text.back() == '\n'); // No line was torn.
    CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<std::ptrdiff_t>(written - 3));

    log.info("again");
    std::string const last = pipe.read();
    CHECK(last.find("event=again\n") != last.npos);
    CHECK(last.find("level=warning event=log-lines-lost count=3\n") != last.npos);
    log.info("once"); // They are reported once.
    CHECK(pipe.read().size() < 60);
}

TEST_CASE("a report that finds no room is made later, with the whole number")
{
    log_pipe const pipe;
    log_sink* const sink = pipe.sink.get();
    logger const log{*sink, log_level::info};

    while (sink->lines_lost() < 3)
        log.info("x"); // It is shorter than a report, so that a report has no room either.
    for (int i = 0; i < 5; ++i)
        log.report_lost_lines();
    CHECK(sink->lines_lost() == 3); // A report is no lost line.

    static_cast<void>(pipe.read());
    log.report_lost_lines();
    log.report_lost_lines(); // Nothing: it has been reported.
    std::string const report = pipe.read();
    CHECK(report.ends_with("level=warning event=log-lines-lost count=3\n"));
    CHECK(std::count(report.begin(), report.end(), '\n') == 1);
}

TEST_CASE("a restarted log daemon gets lines again")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "socket";
    auto daemon = std::make_unique<log_daemon>(path);
    auto const opened = log_sink::to_syslog("cleat", LOG_DAEMON, path);
    REQUIRE(opened.has_value());
    log_sink& sink = **opened;
    sink.write("first");
    CHECK(daemon->next() == "first");
    daemon.reset();
    sink.write("no daemon");
    CHECK(sink.lines_lost() == 1);
    daemon = std::make_unique<log_daemon>(path);
    sink.write("second");
    CHECK(daemon->next() == "second");
    CHECK(sink.lines_lost() == 1);
}

TEST_CASE("the log daemon gets a priority and our name, and adds the time")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "socket";
    log_daemon const daemon{path};
    auto const sink = log_sink::to_syslog("cleat", LOG_LOCAL3, path);
    REQUIRE(sink.has_value());
    logger const log{**sink, log_level::debug, 1};
    std::string const name = "cleat[" + std::to_string(::getpid()) + "]: ";
    log.error("a").add("k", "v w");
    CHECK(daemon.next() == "<155>" + name + "level=error event=a worker=1 k=\"v w\"");
    log.debug("b");
    CHECK(daemon.next() == "<159>" + name + "level=debug event=b worker=1");
}

TEST_CASE("a log daemon that is not there, or not possible, is an error")
{
    temporary_folder const folder;
    CHECK_FALSE(log_sink::to_syslog("cleat", LOG_DAEMON, folder.path() / "socket").has_value());
    auto const longer = log_sink::to_syslog("cleat", LOG_DAEMON, std::string(200, 'x'));
    REQUIRE(!longer);
    CHECK(longer.error() == boost::system::errc::filename_too_long);
}

TEST_CASE("facilities have the names that hitch gives them")
{
    CHECK(syslog_facility_number("daemon") == LOG_DAEMON);
    CHECK(syslog_facility_number("auth") == LOG_AUTHPRIV);
    CHECK(syslog_facility_number("local7") == LOG_LOCAL7);
    CHECK_FALSE(syslog_facility_number("local8").has_value());
    CHECK_FALSE(syslog_facility_number("").has_value());
}

TEST_CASE("a line after one of which a full disk has taken a part begins on its own line")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "log";
    std::unique_ptr<log_sink> const sink = log_sink::to_file(path).value();
    CHECK(sink->write("whole\n"));
    {
        file_size_limit const disk{10};
        CHECK_FALSE(sink->write("torn line\n")); // 4 bytes of it.
        CHECK_FALSE(sink->write("lost\n"));
    }
    CHECK(sink->write("next\n"));
    CHECK(sink->write("last\n"));
    CHECK(folder.read("log") == "whole\ntorn\nnext\nlast\n");
    CHECK(sink->lines_lost() == 2);
}

TEST_CASE("a torn line is ended once, also where the disk is full again, and not in a new file")
{
    temporary_folder const folder;
    std::string const path = folder.path() / "log";
    std::unique_ptr<log_sink> const sink = log_sink::to_file(path).value();
    {
        file_size_limit const disk{4};
        CHECK_FALSE(sink->write("torn line\n"));
    }
    {
        file_size_limit const disk{5};
        CHECK_FALSE(sink->write("lost\n")); // Only the newline before it is written.
    }
    {
        file_size_limit const disk{8};
        CHECK_FALSE(sink->write("more of it\n"));
    }
    CHECK_FALSE(sink->reopen().error); // The same file.
    CHECK(sink->write("next\n"));
    CHECK(folder.read("log") == "torn\nmor\nnext\n");
    {
        file_size_limit const disk{16};
        CHECK_FALSE(sink->write("torn line\n"));
    }
    std::filesystem::rename(path, folder.path() / "log.1");
    CHECK_FALSE(sink->reopen().error);
    CHECK(sink->write("first\n"));
    CHECK(folder.read("log") == "first\n");
}

} // namespace cleat::app::log_sink_test
