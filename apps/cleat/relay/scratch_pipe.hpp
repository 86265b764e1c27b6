// scratch_pipe: the pipe through which bytes go from one socket to another without being copied.

#pragma once

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket.hpp>

#include <cstddef>

namespace cleat::app {

/// scratch_pipe moves pages of a socket's received bytes to another socket (splice(2)). A thread
/// has one for all of its connections: within a turn the bytes go in and out again, and those that
/// the sink does not take go to the connection's own memory. The program ignores SIGPIPE.
class scratch_pipe
{
public:
    /// of_this_thread is made on the thread's first use. Valid until the thread ends.
    [[nodiscard]] static scratch_pipe& of_this_thread() noexcept;

    /// open makes the two descriptors, if they are not there yet. False: there are none to be had
    /// now, and bytes must be copied.
    [[nodiscard]] bool open() noexcept;

    /// receive moves at most n bytes from a socket into the empty pipe. Fewer do not mean that the
    /// socket is drained: each packet takes room of its own. error::closed: the peer's FIN.
    [[nodiscard]] net::io_result receive(net::socket& source, std::size_t n) noexcept;

    /// send moves what the sink takes from the pipe into it. After an error the pipe is empty.
    [[nodiscard]] net::io_result send(net::socket& sink) noexcept;

    /// copy_rest copies what is left in the pipe to the end of `unsent`, which may then hold
    /// limits::unsent_max bytes. False: it has no room, or memory is short. The pipe is empty then,
    /// too.
    [[nodiscard]] bool copy_rest(byte_queue& unsent) noexcept;

    [[nodiscard]] bool empty() const noexcept { return held_ == 0; }

private:
    void discard() noexcept;

    unique_fd out_; // Where bytes leave.
    unique_fd in_;
    std::size_t held_ = 0;
};

} // namespace cleat::app
