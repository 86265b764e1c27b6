#include "privileged/confinement.hpp"
#include "sandbox/call_filter.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <sys/prctl.h>
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

// These calls cannot harm another process, or need a descriptor that the opener has: messages,
// files, folders and ports. No path is relative to anything but a descriptor.
constexpr std::array harmless = std::to_array<int>({
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
    SCMP_SYS(bind),
    SCMP_SYS(getsockopt),
    SCMP_SYS(inotify_add_watch),
});

// Reading, and O_PATH.
void allow_opening(call_filter& filter) noexcept
{
    constexpr std::uint64_t creating = O_CREAT | O_TRUNC;
    filter.allow_where(SCMP_SYS(openat), 2, O_ACCMODE | creating, O_RDONLY);
}

// Appending to a log (log_file.cpp).
void allow_logs(call_filter& filter) noexcept
{
    constexpr std::uint64_t log = O_WRONLY | O_APPEND | O_NOFOLLOW;
    constexpr std::uint64_t looked_at = O_ACCMODE | O_APPEND | O_NOFOLLOW | O_TRUNC;
    filter.allow_where(SCMP_SYS(openat), 2, looked_at, log);
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
    call_filter filter{EPERM};
    filter.allow_runtime();
    filter.allow(harmless);
    allow_opening(filter);
    // fdopen() asks how the descriptor was opened.
    filter.allow_where(SCMP_SYS(fcntl), 1, UINT64_MAX, F_GETFL);
    if (writes_logs)
        allow_logs(filter);
    int const error = filter.load();
    return error == 0 ? confinement_failure{} : confinement_failure{"seccomp", error};
}

} // namespace cleat::app
