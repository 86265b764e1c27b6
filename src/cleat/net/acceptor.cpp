// The socket is watched level-triggered: a turn that leaves connections in the kernel's queue sees
// them again at its next wait, without an accept(2) that finds none.

#include <cleat/net/acceptor.hpp>
#include <cleat/net/worker.hpp>

#include <algorithm>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cleat::net {

acceptor::acceptor(net::worker& owner, unique_fd listening, acceptor_spec spec)
    : waiter{[](waiter& w, error_code why) noexcept {
        if (!why)
            static_cast<acceptor&>(w).enqueue();
    }}
    , deadline{[](deadline& d) noexcept { static_cast<acceptor&>(d).wait(); }}
    , worker_{owner}
    , spec_{std::move(spec)}
    , listening_{new readiness::entry{
          owner.readiness(), std::move(listening), readiness::entry::trigger::level}}
    , turn_{owner, [this] { accept_batch(); }}
{
    wait();
}

acceptor::~acceptor() = default;

error_code acceptor::change(listen_options const& options) noexcept
{
    if (!listening_)
        return {};
    spec_.backlog = options.backlog;
    return change_listen_options(listening_->fd(), options);
}

// Of a listening socket: the length of its queue, and how long that may be. None for others than
// TCP's.
acceptor::queue acceptor::queue_now() const noexcept
{
    tcp_info info{};
    socklen_t size = sizeof info;
    if (!listening_ || ::getsockopt(listening_->fd(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return {};
    return {info.tcpi_unacked, info.tcpi_sacked};
}

std::size_t acceptor::queued() const noexcept
{
    return queue_now().length;
}

bool acceptor::sees_crowd() const noexcept
{
    queue const now = queue_now();
    return now.length > std::min<std::size_t>(limits::crowd_min, now.longest / 2);
}

void acceptor::close() noexcept
{
    if (!listening_)
        return;
    cancel();
    error_code why;
    for (int i = 0; i <= spec_.backlog && listening_ && accept_one(why); ++i) {
    }
    if (why && spec_.on_pause)
        spec_.on_pause(why);
    listening_.reset();
}

void acceptor::wait() noexcept
{
    wait_began_ = worker_.passes();
    // The kernel refuses to watch where it is out of memory.
    if (error_code const why = listening_->wait_readable(*this))
        pause(why);
}

void acceptor::enqueue() noexcept
{
    found_at_once_ = worker_.passes() == wait_began_ + 1;
    turn_.queue(priority::handshake);
}

void acceptor::accept_batch() noexcept
{
    if (!listening_)
        return;
    if (found_at_once_)
        batch_.used(batch_.size());
    else
        batch_.restart();
    // Only a queue that has not been empty for long can be long: others cost no system call.
    is_crowded_ = batch_.size() == limits::accept_batch_max && sees_crowd();
    listening_->use_up_read();
    error_code why;
    bool one = true;
    for (std::size_t i = 0; i < batch_.size() && one; ++i) {
        one = accept_one(why);
        if (!listening_)
            return; // Closed by `serve`.
        if (worker_.time_is_up())
            break;
    }
    if (why)
        return pause(why);
    if (!one)
        batch_.restart();
    wait();
}

// False: no connection is left, or resources ran out. An error of accept(2) that is no lack of
// resources is EAGAIN, or that of a connection that ended before it was accepted. A level-triggered
// wait finds the connections after it.
bool acceptor::accept_one(error_code& out_of_resources) noexcept
{
    address peer;
    peer.size = sizeof peer.storage;
    unique_fd fd{::accept4(
        listening_->fd(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size,
        SOCK_NONBLOCK | SOCK_CLOEXEC)};
    bool const one = static_cast<bool>(fd);
    error_code const why = one ? spec_.serve(std::move(fd), peer) : last_system_error();
    if (!why || !is_out_of_resources(why))
        return one;
    out_of_resources = why;
    return false;
}

// Unwatched, because the connections that wait would wake the worker again and again.
void acceptor::pause(error_code why) noexcept
{
    listening_->unwatch();
    batch_.restart();
    worker_.arm(*this, limits::accept_pause);
    if (spec_.on_pause)
        spec_.on_pause(why);
}

} // namespace cleat::net
