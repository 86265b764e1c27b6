#include "sandbox/call_filter.hpp"
#include "sandbox/system_calls.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr std::array network = std::to_array<int>({
    SCMP_SYS(accept4),
    SCMP_SYS(bind),
    SCMP_SYS(connect),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockname),
    SCMP_SYS(getsockopt),
    SCMP_SYS(listen),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(setsockopt),
    SCMP_SYS(shutdown),
    SCMP_SYS(splice),
});

constexpr std::array waiting = std::to_array<int>({
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(eventfd2),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_rm_watch),
    SCMP_SYS(pipe2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pselect6),
    SCMP_SYS(select),
    SCMP_SYS(signalfd4),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(timerfd_settime),
});

constexpr std::array files = std::to_array<int>({
    SCMP_SYS(access),    SCMP_SYS(chdir),      SCMP_SYS(close),      SCMP_SYS(dup),
    SCMP_SYS(dup2),      SCMP_SYS(dup3),       SCMP_SYS(faccessat),  SCMP_SYS(faccessat2),
    SCMP_SYS(fadvise64), SCMP_SYS(fchmod),     SCMP_SYS(fchown),     SCMP_SYS(fcntl),
    SCMP_SYS(fdatasync), SCMP_SYS(fstat),      SCMP_SYS(fstatfs),    SCMP_SYS(fsync),
    SCMP_SYS(ftruncate), SCMP_SYS(getcwd),     SCMP_SYS(getdents64), SCMP_SYS(lseek),
    SCMP_SYS(lstat),     SCMP_SYS(newfstatat), SCMP_SYS(open),       SCMP_SYS(openat),
    SCMP_SYS(pread64),   SCMP_SYS(preadv2),    SCMP_SYS(pwrite64),   SCMP_SYS(pwritev2),
    SCMP_SYS(read),      SCMP_SYS(readlink),   SCMP_SYS(readlinkat), SCMP_SYS(readv),
    SCMP_SYS(rename),    SCMP_SYS(renameat),   SCMP_SYS(renameat2),  SCMP_SYS(stat),
    SCMP_SYS(statfs),    SCMP_SYS(statx),      SCMP_SYS(umask),      SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),  SCMP_SYS(write),      SCMP_SYS(writev),
});

// Its own threads, and facts about itself and the machine.
constexpr std::array process = std::to_array<int>({
    SCMP_SYS(getegid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getpriority),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getuid),
    SCMP_SYS(getcpu),
    SCMP_SYS(clock_getres),
    SCMP_SYS(membarrier),
    SCMP_SYS(mincore),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(msync),
    SCMP_SYS(munlock),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getattr),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_setattr),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(setpriority),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sysinfo),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(uname),
});

// Netlink, because getaddrinfo() asks which addresses this machine has.
void allow_sockets(call_filter& filter) noexcept
{
    for (int const family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK})
        filter.allow_where(SCMP_SYS(socket), 0, UINT64_MAX, static_cast<std::uint64_t>(family));
}

// Of the ioctls those that Asio and the C library make: not TIOCSTI, which types for a terminal.
void allow_controls(call_filter& filter) noexcept
{
    constexpr std::uint64_t fionbio = 0x5421;
    constexpr std::uint64_t fionread = 0x541b;
    constexpr std::uint64_t tcgets = 0x5401;
    for (std::uint64_t const request : {fionbio, fionread, tcgets})
        filter.allow_where(SCMP_SYS(ioctl), 1, UINT64_MAX, request);
}

// The name of a thread, and a look at limits.
void allow_own_facts(call_filter& filter) noexcept
{
    filter.allow_where(SCMP_SYS(prctl), 0, UINT64_MAX, PR_SET_NAME);
    filter.allow_where(SCMP_SYS(prlimit64), 2, UINT64_MAX, 0);
}

// Threads, but no processes. clone3 has its flags in memory, where no filter sees them: without
// it, the C library takes clone.
void allow_threads(call_filter& filter) noexcept
{
    filter.allow_where(SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD);
    for (int const each : {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork)})
        filter.refuse(each, EPERM);
}

// Modules that look up names (nsswitch.conf) are loaded late. Memory that can be written is never
// executable.
void allow_modules(call_filter& filter) noexcept
{
    filter.allow_where(SCMP_SYS(mmap), 2, PROT_EXEC | PROT_WRITE, PROT_EXEC);
}

} // namespace

int limit_system_calls() noexcept
{
    call_filter filter{ENOSYS};
    filter.allow_runtime();
    filter.allow(network);
    filter.allow(waiting);
    filter.allow(files);
    filter.allow(process);
    allow_sockets(filter);
    allow_controls(filter);
    allow_own_facts(filter);
    allow_threads(filter);
    allow_modules(filter);
    return filter.load();
}

bool offers_seccomp() noexcept
{
    std::uint32_t const action = SECCOMP_RET_ERRNO;
    return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

} // namespace cleat::app
