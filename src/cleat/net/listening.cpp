// Workers share a port by SO_REUSEPORT, which would silently let a second server share it too. So
// each address is first tried without it.

#include <cleat/net/listening.hpp>

#include <boost/system/error_category.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::net {
namespace {

// The first address determines what port 0 becomes. It may be in use at another address.
constexpr int ports_tried_max = 16;

[[noreturn]] void refuse(std::string const& text, std::string const& reason)
{
    throw std::invalid_argument{"listen on '" + text + "': " + reason};
}

[[noreturn]] void fail(std::string const& text, error_code ec)
{
    // The standard's own category, so that a program can compare with std::errc.
    std::error_code const code = ec.category() == boost::system::system_category()
                                     ? std::error_code{ec.value(), std::system_category()}
                                     : static_cast<std::error_code>(ec);
    throw std::system_error{code, "listen on " + text};
}

bool is_same(address const& a, address const& b) noexcept
{
    return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

// A hosts file may list an address twice.
std::vector<address> without_duplicates(std::vector<address> const& addresses)
{
    std::vector<address> all;
    for (address const& each : addresses)
        if (std::ranges::none_of(all, [&](address const& a) { return is_same(a, each); }))
            all.push_back(each);
    return all;
}

void set_port(address& a, unsigned port) noexcept
{
    if (a.family() == AF_INET)
        reinterpret_cast<sockaddr_in&>(a.storage).sin_port = htons(static_cast<in_port_t>(port));
    if (a.family() == AF_INET6)
        reinterpret_cast<sockaddr_in6&>(a.storage).sin6_port = htons(static_cast<in_port_t>(port));
}

// On a kernel without IPv6, or for a name that other machines share, the other addresses remain.
bool is_not_ours(error_code ec)
{
    return ec == boost::system::errc::address_family_not_supported ||
           ec == boost::system::errc::address_not_available;
}

// Binds to an address without taking a port.
error_code try_address(address a)
{
    set_port(a, 0);
    unique_fd const socket{::socket(a.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int const enabled = 1;
    if (!socket ||
        ::setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &enabled, sizeof enabled) !=
            0 ||
        ::bind(socket.get(), a.data(), a.size) != 0)
        return last_system_error();
    return {};
}

error_code listen_for_each(
    listening& opened, address a, listen_options const& options, std::size_t workers)
{
    if (a.port() != 0) {
        listen_options alone = options;
        alone.reuse_port = false;
        if (result<unique_fd> const free = listen_on(a, alone); !free)
            return free.error();
    }
    std::vector<unique_fd> sockets;
    for (std::size_t i = 0; i < workers; ++i) {
        result<unique_fd> one = listen_on(a, options);
        if (!one)
            return one.error();
        result<address> const bound = local_address(one->get());
        if (!bound)
            return bound.error();
        a = *bound; // The first socket gets the port, the others share it.
        sockets.push_back(std::move(*one));
    }
    opened.addresses.push_back(a);
    for (std::size_t i = 0; i < workers; ++i)
        opened.sockets[i].push_back(std::move(sockets[i]));
    return {};
}

listening_attempt try_each(
    std::vector<address> const& addresses, listen_options const& options, std::size_t workers)
{
    listening_attempt attempt;
    attempt.opened.sockets.resize(workers);
    std::vector<refused_address> not_ours;
    for (address each : addresses) {
        if (!attempt.opened.addresses.empty())
            set_port(each, attempt.opened.addresses.front().port());
        if (error_code const ec = listen_for_each(attempt.opened, each, options, workers))
            (is_not_ours(ec) ? not_ours : attempt.refused).push_back({each, ec});
    }
    if (attempt.opened.addresses.empty() && attempt.refused.empty())
        attempt.refused = std::move(not_ours);
    return attempt;
}

} // namespace

listen_text parse_listen(std::string const& text)
{
    std::size_t const bracket = text.rfind(']');
    std::size_t const colon = text.rfind(':');
    if (colon == std::string::npos || (bracket != std::string::npos && colon < bracket))
        refuse(text, "there is no port: give an address and a port, 127.0.0.1:8443");
    listen_text found{text.substr(0, colon), text.substr(colon + 1)};
    bool const opens = found.host.starts_with('[');
    if (opens != found.host.ends_with(']'))
        refuse(text, "a bracket is missing, or there is something beside it: [::1]:8443");
    if (opens)
        found.host = found.host.substr(1, found.host.size() - 2);
    else if (found.host.find(':') != std::string::npos)
        refuse(text, "an IPv6 address stands in brackets: [::1]:8443");
    if (found.host.empty())
        refuse(text, "there is no address: give one, or * for all, *:8443");
    if (!port_of(found.port))
        refuse(text, "the port '" + found.port + "' is no number from 0 to 65535");
    return found;
}

listening_attempt listen_on_each(
    std::vector<address> const& addresses, listen_options const& options, std::size_t workers)
{
    std::vector<address> const all = without_duplicates(addresses);
    listen_options shared = options;
    shared.reuse_port = true;
    bool const any_port = all.size() > 1 && all.front().port() == 0;
    for (int left = any_port ? ports_tried_max : 1;; --left) {
        listening_attempt attempt = try_each(all, shared, workers);
        bool const in_use = !attempt.refused.empty() &&
                            attempt.refused.front().reason == boost::system::errc::address_in_use;
        if (left == 1 || !in_use)
            return attempt;
    }
}

std::vector<refused_address> listen_nowhere(std::vector<address> const& addresses)
{
    std::vector<refused_address> not_ours;
    for (address const& each : without_duplicates(addresses)) {
        error_code const ec = try_address(each);
        if (!is_not_ours(ec))
            return {};
        not_ours.push_back({each, ec});
    }
    return not_ours;
}

namespace {

// One listening socket for all workers: the kernel wakes each of them, and one accepts.
listening shared_by_all(unique_fd socket, std::string const& text, std::size_t workers)
{
    listening opened;
    opened.sockets.resize(workers);
    result<address> const bound = local_address(socket.get());
    if (!bound)
        fail(text, bound.error());
    opened.addresses.push_back(*bound);
    for (std::size_t i = 1; i < workers; ++i) {
        unique_fd copy{::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)};
        if (!copy)
            fail(text, last_system_error());
        opened.sockets[i].push_back(std::move(copy));
    }
    opened.sockets.front().push_back(std::move(socket));
    return opened;
}

listening listen_on_path(
    std::string const& path, std::string const& text, listen_options const& options,
    std::size_t workers)
{
    result<address> const place = unix_address(path);
    if (!place)
        fail(text, place.error());
    result<unique_fd> opened = listen_on(*place, options);
    if (!opened && opened.error() == boost::system::errc::address_in_use) {
        if (error_code const ec = free_socket_path(path))
            fail(text, ec);
        opened = listen_on(*place, options);
    }
    if (!opened)
        fail(text, opened.error());
    result<socket_file> file = socket_file::made_at(path);
    if (!file)
        fail(text, file.error());
    listening made = shared_by_all(std::move(*opened), text, workers);
    made.file = std::move(*file);
    return made;
}

unique_fd take_over(
    std::string const& number, std::string const& text, listen_options const& options)
{
    std::optional<std::uint16_t> const fd = port_of(number); // It has the form of one.
    if (!fd)
        refuse(text, "there is no number of a descriptor: fd:3");
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(*fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0)
        fail(text, last_system_error());
    if (listens == 0)
        refuse(text, "the descriptor is a socket that does not listen");
    unique_fd taken{*fd};
    result<address> const bound = local_address(taken.get());
    bool const is_unix = bound && bound->family() == AF_UNIX;
    int const flags = ::fcntl(taken.get(), F_GETFL);
    if (flags < 0 || ::fcntl(taken.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
        ::fcntl(taken.get(), F_SETFD, FD_CLOEXEC) != 0)
        fail(text, last_system_error());
    if (error_code const ec = is_unix ? error_code{} : adopt_listening(taken.get(), options))
        fail(text, ec);
    return taken;
}

} // namespace

listening listen_on_all(std::string const& text, listen_options const& options, std::size_t workers)
{
    constexpr std::string_view unix_socket = "unix:";
    constexpr std::string_view descriptor = "fd:";
    if (text.starts_with(unix_socket))
        return listen_on_path(text.substr(unix_socket.size()), text, options, workers);
    if (text.starts_with(descriptor))
        return shared_by_all(
            take_over(text.substr(descriptor.size()), text, options), text, workers);
    listen_text const asked = parse_listen(text);
    result<std::vector<address>> const found = resolve(asked.host, asked.port);
    if (!found)
        fail(text, found.error());
    listening_attempt attempt = listen_on_each(*found, options, workers);
    if (!attempt.refused.empty())
        fail(text, attempt.refused.back().reason);
    return std::move(attempt.opened);
}

} // namespace cleat::net
