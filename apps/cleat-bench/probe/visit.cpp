#include "probe/visit.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// With a ticket or an answer there, more of the same flight is waited for so long.
constexpr milliseconds flight_wait{50};

// The first bytes that are kept, to say what a server speaks that does not speak TLS.
constexpr std::size_t first_bytes_max = 64;

error_code wait_for(int fd, short events, clock::time_point until, error when_late)
{
    for (;;) {
        auto const left = std::chrono::ceil<milliseconds>(until - clock::now());
        if (left.count() <= 0)
            return when_late;
        pollfd one{fd, events, 0};
        int const ready = ::poll(&one, 1, static_cast<int>(left.count()));
        if (ready > 0)
            return {};
        if (ready < 0 && errno != EINTR)
            return last_system_error();
    }
}

} // namespace

bool visit::refused() const noexcept
{
    return failure.connected && !established && error != cleat::error::handshake_timeout;
}

connection::connection(net::address const& to, wish const& for_what, milliseconds timeout)
    : to_{to}
    , wish_{for_what}
    , began_{clock::now()}
    , until_{began_ + timeout}
    , channel_{*for_what.use}
{
}

visit connection::take(milliseconds ticket_wait, std::string_view request)
{
    if (error_code const ec = connect())
        return failed(ec);
    told_.failure.connected = true;
    told_.where = stage::handshake;
    if (error_code const ec = shake())
        return failed(ec);
    told_.established = true;
    read_agreement();
    if (wish_.sessions_wanted > 0)
        stay(ticket_wait, request);
    // OpenSSL resumes no session of a connection that did not end cleanly.
    static_cast<void>(channel_.close(fd_.get()));
    return std::move(told_);
}

visit connection::failed(error_code ec)
{
    told_.error = ec;
    told_.failure.kind = kind_of(told_.where, ec, &channel_.engine());
    told_.failure.alert = channel_.engine().failure().peer_alert;
    return std::move(told_);
}

error_code connection::connect()
{
    fd_.reset(::socket(to_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd_)
        return last_system_error();
    net::set_no_delay(fd_.get());
    if (::connect(fd_.get(), to_.data(), to_.size) != 0) {
        if (errno != EINPROGRESS)
            return last_system_error();
        if (error_code const ec = wait_for(fd_.get(), POLLOUT, until_, error::connect_timeout))
            return ec;
        int why = 0;
        socklen_t size = sizeof why;
        ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &why, &size);
        if (why != 0)
            return {why, boost::system::system_category()};
    }
    connected_ = clock::now();
    told_.tcp = connected_ - began_;
    return {};
}

error_code connection::shake()
{
    if (wish_.offered != nullptr)
        channel_.engine().resume(*wish_.offered);
    for (;;) {
        net::progress const p = channel_.handshake(fd_.get());
        if (p.error)
            return p.error;
        if (p.next == net::wait::none)
            break;
        bool const reads = p.next == net::wait::readable;
        if (error_code const ec =
                wait_for(fd_.get(), reads ? POLLIN : POLLOUT, until_, error::handshake_timeout))
            return ec;
        if (reads && told_.failure.first_bytes.empty())
            keep_first_bytes();
    }
    told_.tls = clock::now() - connected_;
    return {};
}

void connection::keep_first_bytes()
{
    std::array<char, first_bytes_max> bytes{};
    ssize_t const n = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n > 0)
        told_.failure.first_bytes.assign(bytes.data(), static_cast<std::size_t>(n));
}

void connection::read_agreement()
{
    tls::handshake_info const agreed = channel_.engine().info();
    told_.version = agreed.version;
    told_.suite = agreed.cipher;
    told_.group = agreed.group;
    told_.scheme = agreed.signature_scheme;
    told_.alpn = agreed.alpn;
    told_.resumed = agreed.resumed;
    told_.chain = tls::shown_chain(channel_.engine());
}

// Asks for something harmless, and reads until the sessions are there or no more can be
// expected. In TLS 1.2 they came with the handshake.
void connection::stay(milliseconds ticket_wait, std::string_view request)
{
    keep_sessions();
    if (told_.version != "TLSv1.3")
        return;
    std::span<std::byte const> const bytes = std::as_bytes(std::span{request});
    net::channel::piece const pieces[] = {bytes};
    if (channel_.write(fd_.get(), pieces).error)
        return;
    // A ticket follows our Finished, which takes as long to arrive as the SYN and its answer.
    clock::time_point until = clock::now() + ticket_wait + 2 * told_.tcp;
    bool came = false;
    while (told_.sessions.size() < wish_.sessions_wanted) {
        net::progress const p =
            channel_.read(fd_.get(), net::scratch::of_this_thread().plaintext(), limits::turn_max);
        keep_sessions();
        told_.certificate_required =
            told_.certificate_required || channel_.engine().failure().peer_alert == 116;
        if (p.error)
            return;
        if (!std::exchange(came, came || p.bytes > 0 || !told_.sessions.empty()) && came)
            until = std::min(until, clock::now() + flight_wait + told_.tcp);
        if (p.next == net::wait::readable &&
            wait_for(fd_.get(), POLLIN, until, error::idle_timeout))
            return;
    }
}

void connection::keep_sessions()
{
    for (tls::session& each : channel_.engine().take_sessions())
        told_.sessions.push_back(std::move(each));
}

std::string first_answer(
    net::address const& to, std::string_view request, std::size_t enough, milliseconds timeout)
{
    clock::time_point const until = clock::now() + timeout;
    unique_fd const fd{::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd || (::connect(fd.get(), to.data(), to.size) != 0 && errno != EINPROGRESS) ||
        wait_for(fd.get(), POLLOUT, until, error::connect_timeout) ||
        ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
        return {};
    std::string said;
    while (said.size() < enough && !wait_for(fd.get(), POLLIN, until, error::idle_timeout)) {
        std::array<char, first_bytes_max> bytes{};
        ssize_t const n = ::recv(fd.get(), bytes.data(), bytes.size() - said.size(), 0);
        if (n <= 0)
            break;
        said.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return said;
}

std::string plain_answer(net::address const& to, std::string_view request, milliseconds timeout)
{
    std::string said = first_answer(to, request, 1, timeout);
    bool const bad_request = said.starts_with("HTTP/") && said.find(" 400 ") != said.npos;
    return bad_request ? std::string{} : said;
}

} // namespace cleat::bench
