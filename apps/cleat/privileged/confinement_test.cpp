#include "privileged/confinement.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app::confinement_test {
namespace {

// The number of the first thing that is not as it should be, in a process of its own; 0: none.
int in_confinement(std::function<int()> const& look)
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        bool const is_confined =
            keep_capabilities(false).step == nullptr && confine_system_calls(true).step == nullptr;
        ::_exit(is_confined ? look() : 100);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

bool is_forbidden(long outcome)
{
    return outcome < 0 && errno == EPERM;
}

} // namespace

TEST_CASE("a confined process opens no socket, starts no program and disturbs no other")
{
    pid_t const parent = ::getpid();
    CHECK(in_confinement([parent] {
              if (!is_forbidden(::socket(AF_INET, SOCK_STREAM, 0)))
                  return 1;
              if (!is_forbidden(::socket(AF_UNIX, SOCK_STREAM, 0)))
                  return 2;
              sockaddr nowhere{};
              if (!is_forbidden(::connect(0, &nowhere, sizeof nowhere)))
                  return 3;
              if (!is_forbidden(::execl("/bin/true", "true", nullptr)))
                  return 4;
              if (!is_forbidden(::kill(parent, SIGCONT)))
                  return 5;
              if (!is_forbidden(::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr)))
                  return 6;
              if (!is_forbidden(::setuid(0)))
                  return 7;
              // Not fork: a sanitizer's runtime has work of its own around it.
              return is_forbidden(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) ? 0 : 8;
          }) == 0);
}

TEST_CASE("a confined process changes no file, and maps no code")
{
    temporary_folder const folder;
    folder.write("file", "text");
    std::string const file = folder.path() / "file";
    CHECK(in_confinement([&] {
              if (!is_forbidden(::open(file.c_str(), O_WRONLY | O_CLOEXEC)))
                  return 1;
              if (!is_forbidden(::open(file.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC)))
                  return 2;
              if (!is_forbidden(::open(file.c_str(), O_RDONLY | O_TRUNC | O_CLOEXEC)))
                  return 3;
              if (!is_forbidden(
                      ::open((file + "-new").c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600)))
                  return 4;
              if (!is_forbidden(::unlink(file.c_str())) ||
                  !is_forbidden(::chmod(file.c_str(), 0777)))
                  return 5;
              void* const code =
                  ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return code == MAP_FAILED && errno == EPERM ? 0 : 6;
          }) == 0);
}

TEST_CASE("a confined process reads files, appends to logs, and has memory")
{
    temporary_folder const folder;
    folder.write("file", "text");
    std::string const file = folder.path() / "file";
    CHECK(in_confinement([&] {
              char byte = 0;
              int const reader = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
              if (::read(reader, &byte, 1) != 1 || byte != 't')
                  return 1;
              if (::open(file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC) < 0)
                  return 2;
              int const log = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
              if (::open(file.c_str(), log) < 0 ||
                  ::open((file + "-new").c_str(), log | O_CREAT | O_EXCL, 0640) < 0)
                  return 3;
              return std::string(10'000'000, 'x').back() == 'x' ? 0 : 4;
          }) == 0);
}

} // namespace cleat::app::confinement_test
