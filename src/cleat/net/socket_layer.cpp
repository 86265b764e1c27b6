#include <cleat/net/socket.hpp>
#include <cleat/net/socket_layer.hpp>
#include <cleat/net/stream.hpp>

#include <cerrno>

#include <poll.h>

namespace cleat::net::detail {

error_code block_until_ready(int fd, wait event) noexcept
{
    short const events = event == wait::readable ? POLLIN : POLLOUT;
    pollfd one{.fd = fd, .events = events, .revents = 0};
    int n = 0;
    do
        n = ::poll(&one, 1, -1);
    while (n < 0 && errno == EINTR);
    return n < 0 ? last_system_error() : error_code{};
}

} // namespace cleat::net::detail

namespace cleat::net {

void beast_close_socket(socket& s)
{
    s.close();
}

} // namespace cleat::net
