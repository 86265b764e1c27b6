#include "relay_end.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <span>
#include <utility>

namespace cleat::app {

void farewell::set_deadline()
{
    if (fin_sent_)
        interrupt_.expires_in(deadlines_.linger, error::idle_timeout);
    else if (!begun_)
        interrupt_.expires_in(limits::fin_delay, error::idle_timeout);
    begun_ = true;
}

void farewell::send_fin() noexcept
{
    if (!std::exchange(fin_sent_, true))
        client_.socket.shutdown_send();
}

bool farewell::goes_on(error_code interrupted)
{
    if (interrupted != error::idle_timeout)
        return false;
    if (fin_sent_)
        return still_takes();
    send_fin();
    return true;
}

// One system call in each linger deadline: a transfer that goes on costs nothing for it.
bool farewell::still_takes() noexcept
{
    std::size_t const before = std::exchange(untaken_, client_.socket.unacknowledged());
    stalled_ = untaken_ == before ? stalled_ + deadlines_.linger : std::chrono::milliseconds{};
    return undelivered() && (deadlines_.idle.count() == 0 || stalled_ < deadlines_.idle);
}

net::task<> close_after_break(
    net::interrupt& interrupt, net::socket& receiver, std::chrono::milliseconds patience)
{
    if (receiver.unsent() == 0) {
        receiver.reset();
        co_return;
    }
    std::size_t left = receiver.unacknowledged();
    receiver.shutdown_send();
    interrupt.expires_in(patience, error::idle_timeout);
    for (;;) {
        // The receiver's bytes have no reader any more. Unread, they would make an RST of our
        // closing.
        std::span<std::byte> const room = net::scratch::of_this_thread().plaintext();
        net::io_result const received = receiver.receive(room);
        if (received.error)
            co_return;
        if (received.bytes == room.size())
            receiver.entry().more_to_read();
        net::interest const readable{&receiver.entry(), true, false};
        error_code const interrupted = co_await net::ready{interrupt, readable};
        if (!interrupted)
            continue;
        std::size_t const before = std::exchange(left, receiver.unacknowledged());
        if (interrupted != error::idle_timeout || left == before) {
            receiver.reset();
            co_return;
        }
        interrupt.expires_in(patience, error::idle_timeout);
    }
}

} // namespace cleat::app
