// The subject's clock, which the recorder reads too: this program's clock_gettime comes before
// libc's in every library of the process. With SUBJECT_CLOCK=stepped in the environment the steady
// clock stands still except where a mode steps it. So a wait or a hold has one length on any
// machine, however late a thread gets a core.

#include "subject.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

using clock_function = int (*)(clockid_t, timespec*);

constexpr std::uint64_t second_ns = 1'000'000'000;

// A wait that never begins, since a recorder is wrong, ends the process after so long.
constexpr unsigned longest_test_s = 60;

int read_kernel_clock(clockid_t clock, timespec* time)
{
    static clock_function const libcs =
        reinterpret_cast<clock_function>(::dlsym(RTLD_NEXT, "clock_gettime"));
    return libcs(clock, time);
}

std::uint64_t in_ns(timespec const& time)
{
    return static_cast<std::uint64_t>(time.tv_sec) * second_ns +
           static_cast<std::uint64_t>(time.tv_nsec);
}

// first_step is the time of a stepped clock as the process starts; 0: the clock is the kernel's. It
// begins with the kernel's time, so that a deadline by it is in the future.
std::uint64_t first_step()
{
    char const* const wanted = std::getenv("SUBJECT_CLOCK");
    if (wanted == nullptr || std::string_view{wanted} != "stepped")
        return 0;
    ::alarm(longest_test_s);
    timespec now{};
    read_kernel_clock(CLOCK_MONOTONIC, &now);
    return in_ns(now);
}

// The first call is the recorder's, before main, so no other thread is there.
std::atomic<std::uint64_t>& stepped_ns()
{
    static std::atomic<std::uint64_t> time = first_step();
    return time;
}

} // namespace

extern "C" [[gnu::visibility("default")]] int clock_gettime(
    clockid_t clock, timespec* time) noexcept
{
    std::uint64_t const stepped = clock == CLOCK_MONOTONIC ? stepped_ns().load() : 0;
    if (stepped == 0)
        return read_kernel_clock(clock, time);
    time->tv_sec = static_cast<time_t>(stepped / second_ns);
    time->tv_nsec = static_cast<long>(stepped % second_ns);
    return 0;
}

std::uint64_t subject::now_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return in_ns(now);
}

std::uint64_t subject::cpu_ns()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return in_ns(now);
}

void subject::pass(std::uint64_t ns)
{
    if (stepped_ns() != 0) {
        stepped_ns() += ns;
        return;
    }
    timespec const length{static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
    // house(sleep): the time that a lock is held is the test's subject
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

pid_t subject::own_id()
{
    return static_cast<pid_t>(::syscall(SYS_gettid));
}

// /proc has the number of the system call that a blocked thread is in, and its arguments; the first
// one of a futex is the address that it waits at.
void subject::until_blocked(pid_t thread, void const* object, std::size_t size)
{
    std::string const path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
    auto const first = reinterpret_cast<std::uintptr_t>(object);
    for (;; ::sched_yield()) {
        int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        char line[256] = "";
        ssize_t const got = file < 0 ? -1 : ::read(file, line, sizeof line - 1);
        ::close(file);
        if (got < 0) {
            std::perror(path.c_str());
            std::exit(2);
        }
        long call = -1;
        unsigned long address = 0;
        if (std::sscanf(line, "%ld %lx", &call, &address) == 2 && call == SYS_futex &&
            address - first < size)
            return;
    }
}
