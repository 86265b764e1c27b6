// relay_end: the last waits of a relay: for a client that has its whole answer, and for the bytes
// that a broken side has left behind.

#pragma once

#include "client_side.hpp"
#include "relay_deadlines.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <cstddef>

namespace cleat::app {

/// farewell waits for a client to close after the end of its answer. close_notify has announced
/// that end, so most clients close at once; our FIN then goes with the closing, for one system call
/// and one packet less. A client that does not close within limits::fin_delay gets the FIN by
/// itself. A client that does not close within the linger deadline is left, unless it is still
/// taking bytes that the kernel holds for it, which may be megabytes.
class farewell
{
public:
    farewell(net::interrupt& interrupt, client_side& client, relay_deadlines deadlines) noexcept
        : interrupt_{interrupt}, client_{client}, deadlines_{deadlines}
    {
    }

    /// set_deadline comes before each wait: a client that still sends has its time again.
    void set_deadline();

    /// send_fin sends the FIN now, once: the client will not close soon.
    void send_fin() noexcept;

    /// goes_on after the wait was interrupted: a deadline has passed, and it was not the last.
    [[nodiscard]] bool goes_on(error_code interrupted);

    /// undelivered: the wait ended with bytes that the client had not acknowledged, not only with
    /// the client still open.
    [[nodiscard]] bool undelivered() const noexcept { return untaken_ > fin_size; }

private:
    static constexpr std::size_t fin_size = 1; // A FIN has a number of its own in the stream.

    bool still_takes() noexcept;

    net::interrupt& interrupt_;
    client_side& client_;
    relay_deadlines deadlines_;
    std::size_t untaken_ = 0;
    std::chrono::milliseconds stalled_{};
    bool begun_ = false;
    bool fin_sent_ = false;
};

/// close_after_break closes the connection to `receiver` after its peer broke. With no byte left in
/// this machine's kernel the receiver gets an RST, as the broken side sent one. Else it gets those
/// bytes first, and then a FIN; it has `patience` for each part of them. A FIN without close_notify
/// tells a client that an answer is incomplete; an upstream gets the FIN only where the upload is
/// complete.
net::task<> close_after_break(
    net::interrupt& interrupt, net::socket& receiver, std::chrono::milliseconds patience);

} // namespace cleat::app
