#include <cleat/net/socket_options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <system_error>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

namespace cleat::net {
namespace {

// Asio's category for getaddrinfo has messages for three of its errors; the C library has all.
class resolver_errors final : public boost::system::error_category
{
public:
    [[nodiscard]] char const* name() const noexcept override { return "resolver"; }
    [[nodiscard]] std::string message(int number) const override { return ::gai_strerror(number); }
};

boost::system::error_category const& resolver_category() noexcept
{
    static resolver_errors const instance;
    return instance;
}

error_code set(int fd, int level, int option, int value) noexcept
{
    if (::setsockopt(fd, level, option, &value, sizeof value) == 0)
        return {};
    return last_system_error();
}

error_code set_keepalive(int fd, listen_options const& options) noexcept
{
    if (!options.keepalive)
        return {};
    if (error_code const ec = set(fd, SOL_SOCKET, SO_KEEPALIVE, 1))
        return ec;
    return set(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(options.keepalive->count()));
}

// A kernel without the option has nothing to turn off.
error_code set_fast_open(int fd, listen_options const& options) noexcept
{
    error_code const ec = set(fd, IPPROTO_TCP, TCP_FASTOPEN, options.fast_open);
    return options.fast_open > 0 ? ec : error_code{};
}

error_code set_defer_accept(int fd, listen_options const& options) noexcept
{
    return set(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, options.defer_accept ? 1 : 0);
}

error_code set_tcp_options(int fd, listen_options const& options) noexcept
{
    if (error_code const ec = set(fd, IPPROTO_TCP, TCP_NODELAY, 1))
        return ec;
    if (options.defer_accept)
        if (error_code const ec = set_defer_accept(fd, options))
            return ec;
    if (options.fast_open > 0)
        if (error_code const ec = set_fast_open(fd, options))
            return ec;
    return set_keepalive(fd, options);
}

error_code set_buffers(int fd, listen_options const& options) noexcept
{
    error_code ec;
    if (options.receive_buffer)
        ec = set(fd, SOL_SOCKET, SO_RCVBUF, *options.receive_buffer);
    if (options.send_buffer && !ec)
        ec = set(fd, SOL_SOCKET, SO_SNDBUF, *options.send_buffer);
    return ec;
}

error_code set_options(int fd, int family, listen_options const& options) noexcept
{
    error_code ec = set_buffers(fd, options);
    if (family == AF_UNIX || ec)
        return ec;
    ec = set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (options.reuse_port && !ec)
        ec = set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (family == AF_INET6 && !ec)
        ec = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    return ec ? ec : set_tcp_options(fd, options);
}

error_code bind_socket(int fd, address const& a, listen_options const& options)
{
    if (::bind(fd, a.data(), a.size) == 0)
        return {};
    error_code const ec = last_system_error();
    return options.bind_denied && is_denied(ec) ? options.bind_denied(fd, a) : ec;
}

} // namespace

unsigned address::port() const noexcept
{
    if (family() == AF_INET)
        return ntohs(reinterpret_cast<sockaddr_in const&>(storage).sin_port);
    if (family() == AF_INET6)
        return ntohs(reinterpret_cast<sockaddr_in6 const&>(storage).sin6_port);
    return 0;
}

std::string to_string(address const& a)
{
    if (a.family() == AF_UNIX) {
        auto const& local = reinterpret_cast<sockaddr_un const&>(a.storage);
        std::size_t const length =
            a.size > offsetof(sockaddr_un, sun_path) ? a.size - offsetof(sockaddr_un, sun_path) : 0;
        return "unix:" + std::string{local.sun_path, ::strnlen(local.sun_path, length)};
    }
    char host[INET6_ADDRSTRLEN] = "?";
    if (a.family() == AF_INET)
        ::inet_ntop(
            AF_INET, &reinterpret_cast<sockaddr_in const&>(a.storage).sin_addr, host, sizeof host);
    else if (a.family() == AF_INET6)
        ::inet_ntop(
            AF_INET6, &reinterpret_cast<sockaddr_in6 const&>(a.storage).sin6_addr, host,
            sizeof host);
    if (a.family() == AF_INET6)
        return fmt::format("[{}]:{}", host, a.port());
    return fmt::format("{}:{}", host, a.port());
}

result<address> unix_address(std::string const& path)
{
    address made;
    auto& local = reinterpret_cast<sockaddr_un&>(made.storage);
    if (path.empty() || path.size() >= sizeof local.sun_path)
        return make_error_code(boost::system::errc::filename_too_long);
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.data(), path.size());
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
    return made;
}

std::optional<std::uint16_t> port_of(std::string_view text) noexcept
{
    std::uint16_t port = 0;
    char const* const end = text.data() + text.size();
    auto const [stop, ec] = std::from_chars(text.data(), end, port);
    return ec == std::errc{} && stop == end ? std::optional{port} : std::nullopt;
}

result<std::vector<address>> resolve(std::string const& host, std::string const& port)
{
    // The C library would take 65537 for 1, and an empty text for 0.
    if (!port_of(port))
        return error_code{EAI_SERVICE, resolver_category()};
    bool const any = host.empty() || host == "*";
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (any ? AI_PASSIVE : 0);
    addrinfo* found = nullptr;
    int const failure = ::getaddrinfo(any ? nullptr : host.c_str(), port.c_str(), &hints, &found);
    if (failure != 0)
        return failure == EAI_SYSTEM ? last_system_error()
                                     : error_code{failure, resolver_category()};
    std::unique_ptr<addrinfo, void (*)(addrinfo*)> const owner{found, ::freeaddrinfo};
    std::vector<address> all;
    for (addrinfo const* a = found; a != nullptr; a = a->ai_next) {
        address& next = all.emplace_back();
        next.size = std::min<socklen_t>(a->ai_addrlen, sizeof next.storage);
        std::memcpy(&next.storage, a->ai_addr, next.size);
    }
    return all;
}

result<unique_fd> listen_on(address const& a, listen_options const& options)
{
    unique_fd fd{::socket(a.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    if (error_code const ec = set_options(fd.get(), a.family(), options))
        return ec;
    if (error_code const ec = bind_socket(fd.get(), a, options))
        return ec;
    if (::listen(fd.get(), options.backlog) != 0)
        return last_system_error();
    return fd;
}

error_code adopt_listening(int fd, listen_options const& options) noexcept
{
    int const flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return last_system_error();
    error_code const ec = set_tcp_options(fd, options);
    return ec ? ec : change_listen_options(fd, options);
}

error_code change_listen_options(int fd, listen_options const& options) noexcept
{
    error_code ec = set_buffers(fd, options);
    if (!ec)
        ec = set_defer_accept(fd, options);
    if (!ec)
        ec = set_keepalive(fd, options);
    if (!ec)
        ec = set_fast_open(fd, options);
    if (!ec && ::listen(fd, options.backlog) != 0)
        ec = last_system_error();
    return ec;
}

result<address> local_address(int fd)
{
    address found;
    found.size = sizeof found.storage;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&found.storage), &found.size) != 0)
        return last_system_error();
    return found;
}

void acknowledge_now(int fd) noexcept
{
    static_cast<void>(set(fd, IPPROTO_TCP, TCP_QUICKACK, 1));
}

void reset_on_close(int fd) noexcept
{
    linger const at_once{.l_onoff = 1, .l_linger = 0};
    static_cast<void>(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

void bound_unsent(int fd, std::size_t bytes) noexcept
{
    static_cast<void>(set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(bytes)));
}

void set_no_delay(int fd) noexcept
{
    static_cast<void>(set(fd, IPPROTO_TCP, TCP_NODELAY, 1));
}

} // namespace cleat::net
