#include "probe/raw_visit.hpp"

#include <cleat/tls/alert.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

// No flight is longer; a server that sends more without end is cut off.
constexpr std::size_t flight_bytes_max = std::size_t{1} << 19;

bool becomes_ready(int fd, short events, clock::time_point deadline) noexcept
{
    for (;;) {
        auto const left = std::chrono::ceil<milliseconds>(deadline - clock::now());
        pollfd one{fd, events, 0};
        int const ready = ::poll(&one, 1, std::max(0, static_cast<int>(left.count())));
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

} // namespace

std::string raw_answer::refusal() const
{
    if (flight.malformed())
        return "no TLS";
    if (flight.alert())
        return "alert " + std::string{tls::alert_name(flight.alert()->description)};
    switch (ending) {
    case raw_ending::not_connected:
        return "no connection";
    case raw_ending::silent:
        return "no answer";
    case raw_ending::closed:
    case raw_ending::answered:
        break;
    }
    return "closed";
}

raw_visit::raw_visit(net::address const& address, milliseconds timeout)
    : deadline_{clock::now() + timeout}
    , fd_{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)}
{
    if (!fd_)
        return;
    net::set_no_delay(fd_.get());
    if (::connect(fd_.get(), address.data(), address.size) != 0) {
        if (errno != EINPROGRESS || !becomes_ready(fd_.get(), POLLOUT, deadline_))
            return;
        int failure = 0;
        socklen_t size = sizeof failure;
        ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
        if (failure != 0)
            return;
    }
    connected_ = true;
}

bool raw_visit::send(std::string_view bytes) noexcept
{
    while (connected_ && !bytes.empty()) {
        ssize_t const n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n > 0)
            bytes.remove_prefix(static_cast<std::size_t>(n));
        else if (errno == EAGAIN ? !becomes_ready(fd_.get(), POLLOUT, deadline_) : errno != EINTR)
            return false; // The answer that came before can still be read.
    }
    return connected_;
}

bool raw_visit::pause(milliseconds time) const noexcept
{
    return connected_ && becomes_ready(fd_.get(), POLLIN, std::min(deadline_, clock::now() + time));
}

void raw_visit::read(raw_answer& answer, awaited end)
{
    if (!connected_)
        return;
    std::array<char, 4096> block{};
    for (std::size_t total = 0; total < flight_bytes_max;) {
        answer.ending = raw_ending::answered;
        if (answer.flight.done() || (end == awaited::hello && answer.accepted()))
            return;
        answer.ending = raw_ending::silent;
        if (!becomes_ready(fd_.get(), POLLIN, deadline_))
            return;
        answer.ending = raw_ending::closed;
        ssize_t const n = ::recv(fd_.get(), block.data(), block.size(), 0);
        if (n <= 0)
            return;
        total += static_cast<std::size_t>(n);
        answer.flight.add({block.data(), static_cast<std::size_t>(n)});
    }
}

std::string raw_visit::read_to_end(milliseconds time, bool& closed)
{
    std::string all;
    std::array<char, 4096> block{};
    closed = false;
    while (all.size() < flight_bytes_max && pause(time)) {
        ssize_t const n = ::recv(fd_.get(), block.data(), block.size(), 0);
        if (n <= 0) {
            closed = true;
            break;
        }
        all.append(block.data(), static_cast<std::size_t>(n));
    }
    return all;
}

} // namespace cleat::bench
