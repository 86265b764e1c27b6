#include "sandbox/memory.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::app::memory_test {

TEST_CASE("a hidden process leaves no core, and cannot be dumped or traced")
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        rlimit core{1 << 20, 1 << 20};
        ::setrlimit(RLIMIT_CORE, &core);
        hide_memory();
        ::getrlimit(RLIMIT_CORE, &core);
        bool const is_hidden =
            core.rlim_cur == 0 && core.rlim_max == 0 && ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
        ::_exit(is_hidden ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("memory is not locked below a limit: it would end the process later")
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        rlimit const some{1 << 20, 1 << 20};
        ::setrlimit(RLIMIT_MEMLOCK, &some);
        ::_exit(lock_memory() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
}

} // namespace cleat::app::memory_test
