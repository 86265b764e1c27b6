#include "sandbox/system_calls.hpp"

#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app::system_calls_test {
namespace {

// The number of the first thing that is not as it should be, in a process of its own; 0: none.
int with_few_calls(std::function<int()> const& look)
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        ::_exit(limit_system_calls() == 0 ? look() : 100);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

bool fails(long outcome, int error)
{
    return outcome < 0 && errno == error;
}

} // namespace

TEST_CASE("no program is executed, no process made, and none disturbed")
{
    pid_t const parent = ::getpid();
    CHECK(with_few_calls([parent] {
              if (!fails(::execl("/bin/true", "true", nullptr), EPERM))
                  return 1;
              // Not fork: a sanitizer's runtime has work of its own around it.
              if (!fails(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), ENOSYS))
                  return 2;
              if (!fails(::kill(parent, 0), ENOSYS))
                  return 3;
              if (!fails(::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr), ENOSYS))
                  return 4;
              if (!fails(::setuid(0), ENOSYS) || !fails(::chroot("/"), ENOSYS))
                  return 5;
              if (!fails(::socket(AF_PACKET, SOCK_RAW, 0), ENOSYS))
                  return 6;
              if (!fails(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), ENOSYS))
                  return 7;
              void* const code = ::mmap(
                  nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
              return code == MAP_FAILED ? 0 : 8;
          }) == 0);
}

TEST_CASE("threads, files and sockets are there")
{
    CHECK(with_few_calls([] {
              bool other = false;
              std::thread{[&] { other = ::open("/dev/null", O_RDWR | O_CLOEXEC) >= 0; }}.join();
              if (!other)
                  return 1;
              unique_fd const tcp{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
              unique_fd const local{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
              return (tcp || errno == EAFNOSUPPORT) && local ? 0 : 2;
          }) == 0);
}

} // namespace cleat::app::system_calls_test
