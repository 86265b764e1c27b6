#include "compare/quiet_client.hpp"
#include "generate/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;

std::string words_for(stage where, error_code ec, tls::engine const* engine)
{
    return fmt::format("{}: {}", name_of(where), kind_of(where, ec, engine));
}

// False: the time is over.
bool wait_for(int fd, short what, clock::time_point until)
{
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    pollfd one{fd, what, 0};
    return left > 0 && ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) > 0;
}

error_code socket_error(int fd) noexcept
{
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
        number = errno;
    return {number, boost::system::system_category()};
}

} // namespace

attempted shake_hands(
    net::address const& with, tls::context const& use, std::chrono::milliseconds patience)
{
    auto const until = clock::now() + patience;
    attempted made;
    made.client.fd.reset(::socket(with.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int const fd = made.client.fd.get();
    if (fd < 0 || (::connect(fd, with.data(), with.size) != 0 && errno != EINPROGRESS)) {
        made.failure = words_for(stage::connect, last_system_error(), nullptr);
        return made;
    }
    bool const there = wait_for(fd, POLLOUT, until);
    if (error_code const ec = there ? socket_error(fd) : error_code{error::connect_timeout}; ec) {
        made.failure = words_for(stage::connect, ec, nullptr);
        return made;
    }
    made.client.channel = std::make_unique<net::channel>(use);
    net::channel& channel = *made.client.channel;
    net::progress p = channel.handshake(fd);
    while (p.next != net::wait::none) {
        if (!wait_for(fd, p.next == net::wait::readable ? POLLIN : POLLOUT, until)) {
            p.error = error::handshake_timeout;
            break;
        }
        p = channel.handshake(fd);
    }
    while (!p.error && channel.unsent() && wait_for(fd, POLLOUT, until))
        p = channel.flush(fd);
    if (p.error)
        made.failure = words_for(stage::handshake, p.error, &channel.engine());
    return made;
}

} // namespace cleat::bench
