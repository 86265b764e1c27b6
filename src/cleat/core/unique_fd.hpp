// unique_fd: the owner of one file descriptor.

#pragma once

#include <utility>

#include <unistd.h>

namespace cleat {

/// unique_fd closes its descriptor when it is destroyed. -1 means that it owns none.
class unique_fd
{
public:
    unique_fd() noexcept = default;
    /// Takes over the descriptor; -1: none.
    explicit unique_fd(int fd) noexcept : fd_{fd} {}
    unique_fd(unique_fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    unique_fd& operator=(unique_fd&& other) noexcept
    {
        reset(std::exchange(other.fd_, -1));
        return *this;
    }
    ~unique_fd() { reset(); }

    /// get is the descriptor, which stays owned; -1: there is none.
    [[nodiscard]] int get() const noexcept { return fd_; }
    /// True where it owns a descriptor.
    [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }

    /// release gives the descriptor away: the caller closes it.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

    /// reset closes the owned descriptor, and owns fd from then on.
    void reset(int fd = -1) noexcept
    {
        // A failed close leaves nothing to do: on Linux the descriptor is gone either way.
        if (int const old = std::exchange(fd_, fd); old >= 0)
            ::close(old);
    }

private:
    int fd_ = -1;
};

} // namespace cleat
