// tls_peer: a TLS client in memory at the other end of a socket, and pairs of sockets, for tests.

#pragma once

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/worlds_for_tests.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/key_update_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace cleat::net {

inline std::span<std::byte const> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span{text});
}

inline std::string text_of(std::span<std::byte const> bytes)
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

inline std::vector<std::byte> pattern(std::size_t n)
{
    std::vector<std::byte> made(n);
    for (std::size_t i = 0; i < n; ++i)
        made[i] = static_cast<std::byte>((i * 31 + i / 251) & 0xff);
    return made;
}

enum class socket_kind
{
    unix_pair,
    tcp
};

/// make_sockets connects two non-blocking sockets. `buffer` is the most bytes that the first may
/// queue for the second; 0: the kernel's default.
inline std::pair<unique_fd, unique_fd> make_sockets(socket_kind kind, int buffer = 0)
{
    int fds[2] = {-1, -1};
    if (kind == socket_kind::unix_pair) {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    } else {
        listen_options options;
        options.defer_accept = false;
        if (buffer != 0)
            options.receive_buffer = buffer;
        result<unique_fd> const listening =
            listen_on(resolve("127.0.0.1", "0").value().front(), options);
        REQUIRE(listening.has_value());
        address const bound = local_address(listening->get()).value();
        fds[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        static_cast<void>(::connect(fds[0], bound.data(), bound.size)); // Loopback: at once.
        // A blocking accept: the connection is in the queue, or about to be.
        int const flags = ::fcntl(listening->get(), F_GETFL);
        REQUIRE(::fcntl(listening->get(), F_SETFL, flags & ~O_NONBLOCK) == 0);
        fds[1] = ::accept4(listening->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        set_no_delay(fds[0]);
        set_no_delay(fds[1]);
    }
    REQUIRE(fds[0] >= 0);
    REQUIRE(fds[1] >= 0);
    if (buffer != 0)
        REQUIRE(::setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) == 0);
    return {unique_fd{fds[0]}, unique_fd{fds[1]}};
}

/// fill sends filler until the socket takes no more; drain receives and discards all bytes. Do not
/// use them while a TLS record is half sent.
inline std::size_t fill(int fd)
{
    std::array<char, 512> const filler{};
    std::size_t sent = 0;
    for (std::size_t size = filler.size(); size > 0;) {
        ssize_t const n = ::send(fd, filler.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            sent += static_cast<std::size_t>(n);
        else
            size /= 2;
    }
    return sent;
}

inline std::size_t drain(int fd)
{
    std::array<char, 65536> buffer;
    std::size_t got = 0;
    for (ssize_t n = 0; (n = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;)
        got += static_cast<std::size_t>(n);
    return got;
}

/// tcp_segments has the kernel's struct, which has grown since the one that glibc 2.36 declares.
struct tcp_segments
{
    tcp_info declared;
    std::array<std::uint64_t, 4> rates_and_bytes;
    std::array<std::uint32_t, 4> segments_and_rtt;
    std::uint32_t data_segments_in;
    std::uint32_t data_segments_out;
};

inline tcp_segments segments_of(int fd)
{
    tcp_segments info{};
    socklen_t size = sizeof info;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info : tcp_segments{};
}

/// segments_received counts the segments with data that a TCP socket has received; 0 for others.
inline unsigned segments_received(int fd)
{
    return segments_of(fd).data_segments_in;
}

/// segments_sent counts the segments with data that a TCP socket has sent, each once: a kernel that
/// waits long for an acknowledgment sends one again.
inline unsigned segments_sent(int fd)
{
    tcp_segments const info = segments_of(fd);
    return info.data_segments_out - info.declared.tcpi_total_retrans;
}

/// tls_peer is a client on a socket that it borrows. It never waits: every call goes as far as the
/// socket allows.
class tls_peer
{
public:
    tls_peer(tls::context const& context, int fd) : engine_{context}, fd_{fd} {}

    [[nodiscard]] bool established() const { return engine_.established(); }

    void handshake()
    {
        fetch();
        call([](tls::engine& e, tls::wire& w) { return e.handshake(w); });
    }

    void write(std::span<std::byte const> bytes)
    {
        while (!bytes.empty()) {
            std::span<std::byte const> const pieces[] = {bytes};
            bytes = bytes.subspan(
                call([&](tls::engine& e, tls::wire& w) { return e.write(w, pieces); }).bytes);
        }
    }
    void write(std::string_view text) { write(bytes_of(text)); }

    void close()
    {
        call([](tls::engine& e, tls::wire& w) { return e.close(w); });
    }

    void request_key_update(std::string_view text)
    {
        REQUIRE(tls::request_key_update(engine_));
        write(text);
    }

    /// send_raw sends bytes that are not TLS; flush sends bytes that the socket did not take
    /// before.
    void send_raw(std::string_view text)
    {
        std::span<std::byte const> const bytes = bytes_of(text);
        out_.insert(out_.end(), bytes.begin(), bytes.end());
        flush();
    }
    bool flush()
    {
        while (!out_.empty()) {
            ssize_t const n = ::send(fd_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n <= 0)
                return false;
            out_.erase(out_.begin(), out_.begin() + n);
        }
        return true;
    }

    /// unsent is how many bytes the socket has not taken.
    [[nodiscard]] std::size_t unsent() const { return out_.size(); }

    void shutdown_send()
    {
        REQUIRE(flush());
        REQUIRE(::shutdown(fd_, SHUT_WR) == 0);
    }

    void reset()
    {
        linger const at_once{1, 0};
        REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
        // connect to AF_UNSPEC resets without closing the descriptor, which is the caller's.
        sockaddr const nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
        REQUIRE(::connect(fd_, &nowhere, sizeof nowhere) == 0);
    }

    /// receive_raw receives and decrypts all bytes, and returns how many came on the wire.
    std::size_t receive_raw()
    {
        std::size_t const n = fetch();
        std::array<std::byte, 65536> buffer;
        while (!end_) {
            tls::step const s =
                call([&](tls::engine& e, tls::wire& w) { return e.read(w, buffer); });
            bytes_.insert(
                bytes_.end(), buffer.begin(),
                buffer.begin() + static_cast<std::ptrdiff_t>(s.bytes));
            end_ = s.error;
            if (s.next == tls::want::input)
                break;
        }
        return n;
    }

    [[nodiscard]] std::vector<std::byte> const& bytes() const { return bytes_; }
    [[nodiscard]] std::string plaintext() const { return text_of(bytes_); }
    [[nodiscard]] error_code end() const { return end_; }
    [[nodiscard]] bool saw_fin() const { return fin_; }
    [[nodiscard]] error_code broken() const { return broken_; }
    [[nodiscard]] int fd() const { return fd_; }

private:
    template <class Op>
    tls::step call(Op op)
    {
        tls::wire w{in_, room_, fin_};
        tls::step const s = op(engine_, w);
        in_.erase(in_.begin(), in_.end() - static_cast<std::ptrdiff_t>(w.in.size()));
        out_.insert(
            out_.end(), room_.begin(), room_.end() - static_cast<std::ptrdiff_t>(w.out.size()));
        flush();
        return s;
    }

    std::size_t fetch()
    {
        std::array<std::byte, 65536> buffer;
        std::size_t got = 0;
        while (!fin_ && !broken_) {
            ssize_t const n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (n < 0) {
                if (errno != EAGAIN)
                    broken_ = {errno, boost::system::system_category()};
                break;
            }
            fin_ = n == 0;
            got += static_cast<std::size_t>(n);
            in_.insert(in_.end(), buffer.begin(), buffer.begin() + n);
        }
        return got;
    }

    tls::engine engine_;
    int fd_;
    std::vector<std::byte> in_;
    std::vector<std::byte> out_;
    std::vector<std::byte> room_ = std::vector<std::byte>(256 * 1024);
    std::vector<std::byte> bytes_;
    error_code end_;
    error_code broken_;
    bool fin_ = false;
};

} // namespace cleat::net
