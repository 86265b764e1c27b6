#include <cleat/net/socket.hpp>

#include <cerrno>

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace cleat::net {
namespace {

template <class Call>
io_result attempt(Call call) noexcept
{
    ssize_t n = 0;
    do
        n = call();
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return {.bytes = static_cast<std::size_t>(n)};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return {.would_block = true};
    return {.error = last_system_error()};
}

} // namespace

io_result socket::receive(std::span<std::byte> buffer) noexcept
{
    if (buffer.empty())
        return {};
    io_result r = attempt(
        [&] { return ::recv(native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT); });
    entry_->received(r.bytes == buffer.size());
    if (r.bytes == 0 && !r.would_block && !r.error)
        r.error = error::closed;
    return r;
}

io_result socket::send(std::span<std::byte const> bytes, bool more) noexcept
{
    int const flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
    io_result const r =
        attempt([&] { return ::send(native_handle(), bytes.data(), bytes.size(), flags); });
    entry_->sent(r.bytes == bytes.size());
    return r;
}

error_code socket::error() noexcept
{
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(native_handle(), SOL_SOCKET, SO_ERROR, &number, &size) != 0)
        return last_system_error();
    return {number, boost::system::system_category()};
}

std::size_t socket::unacknowledged() const noexcept
{
    int bytes = 0;
    return ::ioctl(native_handle(), SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t socket::unsent() const noexcept
{
    int bytes = 0;
    return ::ioctl(native_handle(), SIOCOUTQNSD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

void socket::shutdown_send() noexcept
{
    // It fails only where the peer has reset the connection already: then no FIN is needed.
    static_cast<void>(::shutdown(native_handle(), SHUT_WR));
}

void socket::reset() noexcept
{
    if (!is_open())
        return;
    reset_on_close(native_handle());
    close();
}

void socket::close() noexcept
{
    cancel();
    entry_.reset();
}

void socket::cancel() noexcept
{
    if (!is_open())
        return;
    entry_->cancel(boost::asio::error::operation_aborted);
    entry_->cancel(boost::asio::error::operation_aborted); // A reader and a writer may both wait.
}

} // namespace cleat::net
