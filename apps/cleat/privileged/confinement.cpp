#include "privileged/confinement.hpp"
#include "privileged/runtime_calls.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app {
namespace {

std::uint64_t set_of(std::initializer_list<unsigned> capabilities) noexcept
{
    std::uint64_t set = 0;
    for (unsigned const each : capabilities)
        set |= std::uint64_t{1} << each;
    return set;
}

// These calls cannot harm another process, or need a descriptor that the opener has.
constexpr std::array harmless = std::to_array<int>({
    // Messages, files and folders. No path is relative to anything but a descriptor.
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(readlinkat),
    // Ports.
    SCMP_SYS(bind),
    SCMP_SYS(getsockopt),
    // Memory. Mapping it executable is not among them.
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    // The C library: its locks, the end of the process.
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getrandom),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(sched_yield),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
});

struct free_filter
{
    void operator()(void* filter) const noexcept { ::seccomp_release(filter); }
};

// Where the bits of an argument that `mask` has are as in `value`.
int allow_where(
    void* filter, int call, unsigned argument, std::uint64_t mask, std::uint64_t value) noexcept
{
    scmp_arg_cmp const condition{argument, SCMP_CMP_MASKED_EQ, mask, value};
    return ::seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition);
}

// Reading, and O_PATH.
int allow_opening(void* filter) noexcept
{
    constexpr std::uint64_t creating = O_CREAT | O_TRUNC;
    return allow_where(filter, SCMP_SYS(openat), 2, O_ACCMODE | creating, O_RDONLY);
}

// Appending to a log (log_file.cpp).
int allow_logs(void* filter) noexcept
{
    constexpr std::uint64_t log = O_WRONLY | O_APPEND | O_NOFOLLOW;
    constexpr std::uint64_t looked_at = O_ACCMODE | O_APPEND | O_NOFOLLOW | O_TRUNC;
    return allow_where(filter, SCMP_SYS(openat), 2, looked_at, log);
}

// fdopen() asks how the descriptor was opened.
int allow_asking(void* filter) noexcept
{
    return allow_where(filter, SCMP_SYS(fcntl), 1, UINT64_MAX, F_GETFL);
}

int allow_memory(void* filter) noexcept
{
    int const mapped = allow_where(filter, SCMP_SYS(mmap), 2, PROT_EXEC, 0);
    int const changed = allow_where(filter, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
    return mapped != 0 ? mapped : changed;
}

// abort() kills its own thread; a message of the C library may come before.
int allow_abort(void* filter) noexcept
{
    auto const own = static_cast<std::uint64_t>(::getpid());
    int const signalled = allow_where(filter, SCMP_SYS(tgkill), 0, UINT64_MAX, own);
    int const written = allow_where(filter, SCMP_SYS(writev), 0, UINT64_MAX, STDERR_FILENO);
    int const also = allow_where(filter, SCMP_SYS(write), 0, UINT64_MAX, STDERR_FILENO);
    return signalled != 0 ? signalled : written != 0 ? written : also;
}

} // namespace

confinement_failure keep_capabilities(bool writes_logs) noexcept
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0)
        return confinement_failure{"capget", errno};
    std::uint64_t kept = set_of({CAP_DAC_READ_SEARCH, CAP_NET_BIND_SERVICE});
    if (writes_logs)
        kept |= set_of({CAP_DAC_OVERRIDE});
    // Without CAP_SETPCAP this fails, and changes nothing: no program is executed.
    for (int each = 0; each <= CAP_LAST_CAP; ++each)
        static_cast<void>(::prctl(PR_CAPBSET_DROP, each, 0, 0, 0));
    static_cast<void>(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
    for (std::size_t half = 0; half < sets.size(); ++half) {
        auto const allowed = static_cast<std::uint32_t>(kept >> (32 * half));
        sets[half].permitted &= allowed;
        sets[half].effective = sets[half].permitted;
        sets[half].inheritable = 0;
    }
    return ::syscall(SYS_capset, &header, sets.data()) == 0 ? confinement_failure{}
                                                            : confinement_failure{"capset", errno};
}

confinement_failure confine_system_calls(bool writes_logs) noexcept
{
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return confinement_failure{"prctl", errno};
    std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, free_filter> const filter{
        ::seccomp_init(SCMP_ACT_ERRNO(EPERM))};
    if (filter == nullptr)
        return confinement_failure{"seccomp_init", ENOMEM};
    // A sanitizer has a thread of its own.
    int error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    for (int const call : harmless)
        if (error == 0)
            error = ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
    for (auto* const allow :
         {allow_opening, allow_asking, allow_memory, allow_abort, allow_runtime_calls})
        if (error == 0)
            error = allow(filter.get());
    if (error == 0 && writes_logs)
        error = allow_logs(filter.get());
    if (error == 0)
        error = ::seccomp_load(filter.get());
    return error == 0 ? confinement_failure{} : confinement_failure{"seccomp", -error};
}

} // namespace cleat::app
