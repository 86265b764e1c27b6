#include "sandbox/call_filter.hpp"
#include "sandbox/runtime_calls.hpp"

#include <array>
#include <cerrno>

#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr std::array runtime = std::to_array<int>({
    // Memory.
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

} // namespace

void call_filter::release::operator()(void* filter) const noexcept
{
    ::seccomp_release(filter);
}

call_filter::call_filter(int error) noexcept
    : filter_{::seccomp_init(SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)))}
{
    if (filter_ == nullptr)
        error_ = ENOMEM;
    else // A sanitizer has a thread of its own.
        note(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1));
}

// libseccomp's errors are negative.
void call_filter::note(int error) noexcept
{
    if (error_ == 0)
        error_ = -error;
}

void call_filter::allow(int call) noexcept
{
    if (error_ == 0)
        note(::seccomp_rule_add(filter_.get(), SCMP_ACT_ALLOW, call, 0));
}

void call_filter::allow(std::span<int const> calls) noexcept
{
    for (int const each : calls)
        allow(each);
}

void call_filter::allow_where(
    int call, unsigned argument, std::uint64_t mask, std::uint64_t value) noexcept
{
    scmp_arg_cmp const condition{argument, SCMP_CMP_MASKED_EQ, mask, value};
    if (error_ == 0)
        note(::seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, call, 1, &condition));
}

void call_filter::refuse(int call, int error) noexcept
{
    auto const action = SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
    if (error_ == 0)
        note(::seccomp_rule_add(filter_.get(), action, call, 0));
}

void call_filter::allow_runtime() noexcept
{
    allow(runtime);
    allow_where(SCMP_SYS(mmap), 2, PROT_EXEC, 0);
    allow_where(SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
    // abort() kills its own thread; a message of the C library may come before.
    allow_where(SCMP_SYS(tgkill), 0, UINT64_MAX, static_cast<std::uint64_t>(::getpid()));
    allow_where(SCMP_SYS(writev), 0, UINT64_MAX, STDERR_FILENO);
    allow_where(SCMP_SYS(write), 0, UINT64_MAX, STDERR_FILENO);
    if (error_ == 0)
        note(allow_runtime_calls(filter_.get()));
}

int call_filter::load() noexcept
{
    if (error_ == 0)
        note(::seccomp_load(filter_.get()));
    return error_;
}

} // namespace cleat::app
