#include "sandbox/landlock.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app::landlock_test {
namespace {

namespace fs = std::filesystem;

// The number of the first thing that is not as it should be, in a process of its own; 0: none.
int in_landlock(sandbox_rules const& rules, std::function<int(landlocked const&)> const& look)
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        landlocked const made = enter_landlock(rules);
        ::_exit(made.abi == 0 ? 100 : look(made));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

bool reads(std::string const& path)
{
    unique_fd const fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    return static_cast<bool>(fd);
}

bool is_denied(int outcome)
{
    return outcome < 0 && errno == EACCES;
}

// Binds a port that the kernel chooses, or this one.
int bind_port(std::uint16_t port)
{
    unique_fd const fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::bind(fd.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address);
}

int connect_to_port(std::uint16_t port)
{
    unique_fd const fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address);
}

bool lacks_landlock()
{
    return !landlock_abi();
}

} // namespace

TEST_CASE(
    "a file outside the rules cannot be read, written, made, removed or executed" *
    doctest::skip(lacks_landlock()))
{
    temporary_folder const folder;
    fs::create_directories(folder.path() / "in");
    fs::create_directories(folder.path() / "out");
    folder.write("in/file", "text");
    folder.write("out/file", "text");
    std::string const in = folder.path() / "in/file";
    std::string const out = folder.path() / "out/file";
    sandbox_rules rules;
    rules.paths = {{fs::path{in}.parent_path(), rights::reading}, {"/missing", rights::reading}};
    CHECK(in_landlock(rules, [&](landlocked const&) {
              if (!reads(in))
                  return 1;
              if (reads(out) || reads("/etc/passwd"))
                  return 2;
              if (!is_denied(::open(in.c_str(), O_WRONLY | O_CLOEXEC)))
                  return 3;
              if (!is_denied(::open((in + "2").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)))
                  return 4;
              if (!is_denied(::unlink(in.c_str())) ||
                  !is_denied(::symlink("x", (in + "3").c_str())))
                  return 5;
              if (!is_denied(::execl("/bin/true", "true", nullptr)))
                  return 6;
              // As a thread that starts later.
              bool other = true;
              std::thread{[&] { other = reads(out); }}.join();
              return other ? 7 : 0;
          }) == 0);
}

TEST_CASE(
    "a log is appended to and made anew, and a socket is made and removed" *
    doctest::skip(lacks_landlock()))
{
    temporary_folder const folder;
    std::string const log = folder.path() / "log";
    folder.write("log", "text");
    sandbox_rules rules;
    rules.paths = {{folder.path(), rights::logging}};
    CHECK(in_landlock(rules, [&](landlocked const&) {
              if (::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC) < 0)
                  return 1;
              if (::open((log + "2").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) < 0)
                  return 2;
              if (reads(log) || !is_denied(::unlink(log.c_str())))
                  return 3;
              return is_denied(::mknod((log + "3").c_str(), S_IFSOCK | 0600, 0)) ? 0 : 4;
          }) == 0);
    rules.paths = {{folder.path(), rights::sockets}};
    CHECK(in_landlock(rules, [&](landlocked const&) {
              std::string const socket = log + "4";
              if (::mknod(socket.c_str(), S_IFSOCK | 0600, 0) != 0)
                  return 1;
              return ::unlink(socket.c_str()) == 0 ? 0 : 2;
          }) == 0);
}

TEST_CASE(
    "a folder that replaces another has the rights of the one above, not those of its name" *
    doctest::skip(lacks_landlock()))
{
    temporary_folder const folder;
    fs::path const top = fs::canonical(folder.path());
    for (bool const is_above_given : {false, true}) {
        CAPTURE(is_above_given);
        fs::create_directories(top / "keys");
        folder.write("keys/file", "text");
        std::string const file = top / "keys/file";
        sandbox_rules rules;
        rules.paths = {{is_above_given ? top : top / "keys", rights::reading}};
        pid_t const child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            landlocked const made = enter_landlock(rules);
            bool const had = reads(file) && made.places.allow(file, landlock::read_file);
            ::raise(SIGSTOP); // The folder is replaced now.
            bool const has = reads(file);
            bool const is_known = made.places.allow(file, landlock::read_file) == has;
            ::_exit(had && is_known && has == is_above_given ? 0 : 1);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
        REQUIRE(WIFSTOPPED(status));
        fs::rename(top / "keys", top / "old");
        fs::create_directories(top / "keys");
        folder.write("keys/file", "text");
        ::kill(child, SIGCONT);
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WEXITSTATUS(status) == 0);
        fs::remove_all(top / "old");
    }
}

TEST_CASE(
    "the places that are given are found as the kernel finds them, also over links" *
    doctest::skip(lacks_landlock()))
{
    temporary_folder const folder;
    fs::path const top = fs::canonical(folder.path());
    fs::create_directories(top / "in/deep");
    fs::create_directories(top / "out");
    fs::create_symlink(top / "out/file", top / "in/link");
    folder.write("out/file", "text");
    sandbox_rules rules;
    rules.paths = {{top / "in", rights::reading}};
    CHECK(in_landlock(rules, [&](landlocked const& made) {
              granted_places const& places = made.places;
              if (!places.allow(top / "in/deep/missing", landlock::read_file))
                  return 1;
              if (places.allow(top / "in/link", landlock::read_file) || reads(top / "in/link"))
                  return 2;
              return places.allow(top / "in/deep", rights::logging) ? 3 : 0;
          }) == 0);
}

TEST_CASE(
    "TCP listens and connects at the given ports only, where the kernel knows how" *
    doctest::skip(!landlock_abi() || *landlock_abi() < 4))
{
    sandbox_rules rules;
    rules.limits_ports = true;
    rules.bound_ports = {0};
    rules.connected_ports = {9};
    CHECK(in_landlock(rules, [](landlocked const&) {
              if (bind_port(0) != 0 || !is_denied(bind_port(47)))
                  return 1;
              if (!is_denied(connect_to_port(7)))
                  return 2;
              return is_denied(connect_to_port(9)) ? 3 : 0; // Refused, or even there.
          }) == 0);
    rules.limits_ports = false;
    CHECK(in_landlock(rules, [](landlocked const&) {
              return is_denied(connect_to_port(7)) ? 1 : 0;
          }) == 0);
}

TEST_CASE(
    "no signal leaves, where the kernel knows how" *
    doctest::skip(!landlock_abi() || *landlock_abi() < 6))
{
    pid_t const parent = ::getpid();
    CHECK(in_landlock({}, [parent](landlocked const&) {
              return ::kill(parent, 0) < 0 && errno == EPERM && ::kill(::getpid(), 0) == 0 ? 0 : 1;
          }) == 0);
}

TEST_CASE("facts about the own process stay readable" * doctest::skip(lacks_landlock()))
{
    sandbox_rules rules;
    rules.paths = {{"/proc/self", rights::reading}};
    CHECK(in_landlock(rules, [](landlocked const& made) {
              // The rule is for the process that made it: here the child itself.
              return made.own_facts && reads("/proc/self/statm") && !reads("/proc/1/statm") ? 0 : 1;
          }) == 0);
}

} // namespace cleat::app::landlock_test
