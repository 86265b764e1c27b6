#include "commands/health_command.hpp"
#include "standard_error.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <boost/system/errc.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

using health_clock = std::chrono::steady_clock;

// timed_out: the descriptor is not ready by then.
error_code wait_until_ready(int fd, short events, health_clock::time_point end)
{
    for (;;) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - health_clock::now());
        pollfd one{fd, events, 0};
        int const n = left.count() > 0 ? ::poll(&one, 1, static_cast<int>(left.count())) : 0;
        if (n > 0)
            return {};
        if (n == 0)
            return make_error_code(boost::system::errc::timed_out);
        if (errno != EINTR)
            return last_system_error();
    }
}

result<net::address> resolve_server(admin_address const& where)
{
    if (unix_path const* const path = std::get_if<unix_path>(&where))
        return net::unix_address(path->path);
    host_port const& place = std::get<host_port>(where);
    result<std::vector<net::address>> const found =
        net::resolve(place.host, fmt::to_string(place.port));
    if (!found)
        return found.error();
    return found->front();
}

result<unique_fd> connect_in_time(net::address const& address, health_clock::time_point end)
{
    unique_fd fd{::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd)
        return last_system_error();
    if (::connect(fd.get(), address.data(), address.size) == 0)
        return fd;
    if (errno != EINPROGRESS)
        return last_system_error();
    if (error_code const ec = wait_until_ready(fd.get(), POLLOUT, end))
        return ec;
    int failure = 0;
    socklen_t size = sizeof failure;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
        return last_system_error();
    if (failure != 0)
        return error_code{failure, boost::system::system_category()};
    return fd;
}

// To the end of the connection, or to admin_header_max: an answer of this server is shorter.
result<std::string> receive_reply(int fd, health_clock::time_point end)
{
    std::string text;
    std::array<char, 2048> piece{};
    while (text.size() < limits::admin_header_max) {
        if (error_code const ec = wait_until_ready(fd, POLLIN, end))
            return ec;
        ssize_t const n = ::recv(fd, piece.data(), piece.size(), 0);
        if (n < 0)
            return last_system_error();
        if (n == 0)
            break;
        text.append(piece.data(), static_cast<std::size_t>(n));
    }
    return text;
}

result<std::string> ask_server(admin_address const& where, std::string_view path)
{
    health_clock::time_point const end = health_clock::now() + limits::admin_request_time;
    result<net::address> const address = resolve_server(where);
    if (!address)
        return address.error();
    result<unique_fd> const fd = connect_in_time(*address, end);
    if (!fd)
        return fd.error();
    // It fits into the buffer of a new socket.
    std::string const asked =
        fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (::send(fd->get(), asked.data(), asked.size(), MSG_NOSIGNAL) < 0)
        return last_system_error();
    return receive_reply(fd->get(), end);
}

std::string_view body_of_reply(std::string_view answer)
{
    std::size_t const end = answer.find("\r\n\r\n");
    return end == std::string_view::npos ? std::string_view{} : answer.substr(end + 4);
}

} // namespace

int ask_for_health(ask_health const& request)
{
    result<std::string> const answer =
        ask_server(request.where, request.is_ready ? "/readyz" : "/healthz");
    if (!answer) {
        complain(
            "cleat: no answer from the admin server at {}: {}\n", to_string(request.where),
            answer.error().message());
        return EXIT_FAILURE;
    }
    if (!answer->starts_with("HTTP/1.1 ")) {
        complain("cleat: at {} is no admin server of cleat\n", to_string(request.where));
        return EXIT_FAILURE;
    }
    std::string_view const body = body_of_reply(*answer);
    if (!answer->starts_with("HTTP/1.1 200 ")) {
        complain("{}", body);
        return EXIT_FAILURE;
    }
    fmt::print("{}", body);
    return EXIT_SUCCESS;
}

} // namespace cleat::app
