#include "relay/scratch_pipe.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// splice moves at most n bytes; -1 and errno as of splice(2).
ssize_t splice(int from, int to, std::size_t n) noexcept
{
    ssize_t moved = 0;
    do
        moved = ::splice(from, nullptr, to, nullptr, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    while (moved < 0 && errno == EINTR);
    return moved;
}

} // namespace

scratch_pipe& scratch_pipe::of_this_thread() noexcept
{
    thread_local scratch_pipe instance;
    return instance;
}

bool scratch_pipe::open() noexcept
{
    if (out_)
        return true;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    out_.reset(ends[0]);
    in_.reset(ends[1]);
    // Without room for a whole turn, which a user's limit may refuse, turns are shorter.
    static_cast<void>(::fcntl(in_.get(), F_SETPIPE_SZ, static_cast<int>(limits::turn_max)));
    return true;
}

net::io_result scratch_pipe::receive(net::socket& source, std::size_t n) noexcept
{
    ssize_t const moved = splice(source.native_handle(), in_.get(), n);
    if (moved < 0 && errno != EAGAIN)
        return {.error = last_system_error()};
    source.entry().received(moved > 0);
    if (moved < 0)
        return {.would_block = true};
    if (moved == 0)
        return {.error = error::closed};
    held_ = static_cast<std::size_t>(moved);
    return {.bytes = held_};
}

net::io_result scratch_pipe::send(net::socket& sink) noexcept
{
    net::io_result sent;
    while (held_ != 0) {
        ssize_t const moved = splice(out_.get(), sink.native_handle(), held_);
        if (moved < 0 && errno == EAGAIN)
            break;
        if (moved <= 0) {
            sent.error = last_system_error();
            discard();
            return sent;
        }
        held_ -= static_cast<std::size_t>(moved);
        sent.bytes += static_cast<std::size_t>(moved);
    }
    sink.entry().sent(held_ == 0);
    return sent;
}

bool scratch_pipe::copy_rest(byte_queue& unsent) noexcept
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    while (held_ != 0) {
        ssize_t const n = ::read(out_.get(), block.data(), std::min(block.size(), held_));
        if (n <= 0 ||
            !unsent.append(block.first(static_cast<std::size_t>(n)), limits::unsent_max)) {
            discard();
            return false;
        }
        held_ -= static_cast<std::size_t>(n);
    }
    return true;
}

// The next connection must not get bytes of this one.
void scratch_pipe::discard() noexcept
{
    out_.reset();
    in_.reset();
    held_ = 0;
}

} // namespace cleat::app
