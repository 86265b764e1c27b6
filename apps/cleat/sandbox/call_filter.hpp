// call_filter: a list of the system calls that a process may make (seccomp(2)).

#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace cleat::app {

/// call_filter allows nothing at first. Every function but load notes the first error for load.
class call_filter
{
public:
    /// A call that is not allowed fails with this errno.
    explicit call_filter(int error) noexcept;

    void allow(int call) noexcept;
    void allow(std::span<int const> calls) noexcept;

    /// allow_where allows a call where the bits of an argument that `mask` has are as in `value`.
    void allow_where(int call, unsigned argument, std::uint64_t mask, std::uint64_t value) noexcept;

    /// refuse gives a call an errno of its own.
    void refuse(int call, int error) noexcept;

    /// allow_runtime: the C library's memory, locks, clocks and end of the process, and abort. No
    /// memory can be mapped executable.
    void allow_runtime() noexcept;

    /// load puts the list in force, for all threads and for good. The process must have
    /// PR_SET_NO_NEW_PRIVS or CAP_SYS_ADMIN. Returns an errno, or 0.
    [[nodiscard]] int load() noexcept;

private:
    struct release
    {
        void operator()(void* filter) const noexcept;
    };

    void note(int error) noexcept;

    std::unique_ptr<void, release> filter_;
    int error_ = 0;
};

} // namespace cleat::app
