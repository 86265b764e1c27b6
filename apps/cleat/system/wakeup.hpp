// wakeup: ends another thread's poll(2).

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::app {

/// wakeup is a descriptor that is readable from wake to clear.
class wakeup
{
public:
    /// Throws std::system_error.
    wakeup() : fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
    {
        if (!fd_)
            throw std::system_error{errno, std::system_category(), "eventfd"};
    }

    [[nodiscard]] int native_handle() const noexcept { return fd_.get(); }

    /// readable is for poll(2).
    [[nodiscard]] pollfd readable() const noexcept { return {fd_.get(), POLLIN, 0}; }

    /// wake: any thread.
    void wake() const noexcept
    {
        std::uint64_t const one = 1;
        static_cast<void>(!::write(fd_.get(), &one, sizeof one));
    }

    /// clear: wakes from before it are over.
    void clear() const noexcept
    {
        std::uint64_t count = 0;
        static_cast<void>(!::read(fd_.get(), &count, sizeof count));
    }

private:
    unique_fd fd_; // An eventfd.
};

} // namespace cleat::app
