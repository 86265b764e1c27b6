// last_bytes: whether a receiver still takes the bytes that only this machine's kernel holds for
// it.

#pragma once

#include <cstddef>
#include <utility>

namespace cleat::app {

/// last_bytes compares, from one timeout to the next, how many bytes of a socket its peer's kernel
/// has not acknowledged. They may be megabytes, so a slow receiver may need longer than one
/// timeout.
class last_bytes
{
public:
    explicit last_bytes(std::size_t unacknowledged = 0) noexcept : left_{unacknowledged} {}

    /// on_timeout: a timeout has passed, and so many bytes are unacknowledged now.
    void on_timeout(std::size_t unacknowledged) noexcept
    {
        stalled_ = std::exchange(left_, unacknowledged) == unacknowledged ? stalled_ + 1 : 0;
    }

    /// undelivered: the receiver has not got all bytes. One unacknowledged byte is the FIN, which
    /// counts as one (tcp(7)).
    [[nodiscard]] bool undelivered() const noexcept { return left_ > 1; }

    /// stalled counts the latest timeouts in a row between which the receiver acknowledged nothing.
    [[nodiscard]] unsigned stalled() const noexcept { return stalled_; }

private:
    std::size_t left_;
    unsigned stalled_ = 0;
};

} // namespace cleat::app
