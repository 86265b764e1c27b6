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

std::string failure_text(stage reached, error_code ec, tls::engine const* engine)
{
    return fmt::format("{}: {}", name_of(reached), kind_of(reached, ec, engine));
}

// False if the deadline has passed.
bool wait_for_socket(int fd, short events, clock::time_point deadline)
{
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    pollfd one{fd, events, 0};
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

connection_attempt shake_hands(
    net::address const& address, tls::context const& context, std::chrono::milliseconds patience)
{
    auto const deadline = clock::now() + patience;
    connection_attempt attempt;
    attempt.client.fd.reset(
        ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int const fd = attempt.client.fd.get();
    if (fd < 0 || (::connect(fd, address.data(), address.size) != 0 && errno != EINPROGRESS)) {
        attempt.failure = failure_text(stage::connect, last_system_error(), nullptr);
        return attempt;
    }
    bool const connected = wait_for_socket(fd, POLLOUT, deadline);
    if (error_code const ec = connected ? socket_error(fd) : error_code{error::connect_timeout};
        ec) {
        attempt.failure = failure_text(stage::connect, ec, nullptr);
        return attempt;
    }
    attempt.client.channel = std::make_unique<net::channel>(context);
    net::channel& channel = *attempt.client.channel;
    net::progress progress = channel.handshake(fd);
    while (progress.next != net::wait::none) {
        if (!wait_for_socket(
                fd, progress.next == net::wait::readable ? POLLIN : POLLOUT, deadline)) {
            progress.error = error::handshake_timeout;
            break;
        }
        progress = channel.handshake(fd);
    }
    while (!progress.error && channel.unsent() && wait_for_socket(fd, POLLOUT, deadline))
        progress = channel.flush(fd);
    if (progress.error)
        attempt.failure = failure_text(stage::handshake, progress.error, &channel.engine());
    return attempt;
}

} // namespace cleat::bench
