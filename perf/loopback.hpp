// loopback.hpp: addresses, sockets and signals, as small as the control arms need them.
//
// Set-up only: everything here throws std::system_error, and nothing here runs per connection.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace perf {

[[noreturn]] inline void fail(char const* what)
{
    throw std::system_error(errno, std::system_category(), what);
}

// parse_address turns "127.0.0.1:8443" into a socket address.
inline sockaddr_in parse_address(std::string const& text)
{
    std::size_t const colon = text.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (colon == std::string::npos ||
        inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1)
        throw std::invalid_argument("'" + text + "' is not an address like 127.0.0.1:8443");
    int const port = std::stoi(text.substr(colon + 1));
    if (port < 0 || port > 65535)
        throw std::invalid_argument("'" + text + "' names no port");
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

inline sockaddr const* generic(sockaddr_in const& address)
{
    return reinterpret_cast<sockaddr const*>(&address);
}

inline void set_option(int fd, int level, int name, int value)
{
    if (setsockopt(fd, level, name, &value, sizeof value) != 0)
        fail("setsockopt");
}

// listen_on gives a listening, non-blocking socket; what is accepted inherits TCP_NODELAY from it.
//
// With `defer`, a connection shows up only when its first bytes are there, so that accepting it and
// reading them is one wake-up.
inline int listen_on(sockaddr_in const& address, bool defer)
{
    int const fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail("socket");
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (defer)
        set_option(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 5);
    if (bind(fd, generic(address), sizeof address) != 0)
        fail("bind");
    if (listen(fd, 4096) != 0)
        fail("listen");
    return fd;
}

// announce prints the line that the runner waits for: "ready", and the address that was bound.
inline void announce(int listener)
{
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    if (getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size) != 0)
        fail("getsockname");
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &bound.sin_addr, text, sizeof text);
    std::printf("ready %s:%d\n", text, ntohs(bound.sin_port));
    std::fflush(stdout);
}

// raise_open_files lifts the soft limit on descriptors to the hard one.
inline void raise_open_files()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

inline std::sig_atomic_t volatile stop_asked = 0;

// stop_on_signals makes SIGTERM and SIGINT set stop_asked and interrupt the wait that they hit.
inline void stop_on_signals()
{
    struct sigaction action
    {
    };
    action.sa_handler = [](int) { stop_asked = 1; };
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

} // namespace perf
