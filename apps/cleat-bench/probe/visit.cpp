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

// How long to wait for the rest of a flight after its first ticket or bytes.
constexpr milliseconds flight_wait{50};

// How many first bytes are kept; they show the protocol of a server without TLS.
constexpr std::size_t first_bytes_max = 64;

error_code wait_for(int fd, short events, clock::time_point deadline, error late_error)
{
    for (;;) {
        auto const left = std::chrono::ceil<milliseconds>(deadline - clock::now());
        if (left.count() <= 0)
            return late_error;
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

connection::connection(
    net::address const& address, visit_options const& options, milliseconds timeout)
    : address_{address}
    , options_{options}
    , start_{clock::now()}
    , deadline_{start_ + timeout}
    , channel_{*options.context}
{
}

visit connection::run(milliseconds ticket_wait, std::string_view request)
{
    if (error_code const ec = connect())
        return failed(ec);
    result_.failure.connected = true;
    result_.reached = stage::handshake;
    if (error_code const ec = shake_hands())
        return failed(ec);
    result_.established = true;
    read_agreement();
    if (options_.sessions_wanted > 0)
        wait_for_sessions(ticket_wait, request);
    // OpenSSL resumes no session of a connection that did not end cleanly.
    if (!options_.stays_open)
        static_cast<void>(channel_.close(fd_.get()));
    return std::move(result_);
}

visit connection::failed(error_code ec)
{
    result_.error = ec;
    result_.failure.kind = kind_of(result_.reached, ec, &channel_.engine());
    result_.failure.alert = channel_.engine().failure().peer_alert;
    return std::move(result_);
}

error_code connection::connect()
{
    fd_.reset(::socket(address_.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd_)
        return last_system_error();
    net::set_no_delay(fd_.get());
    if (::connect(fd_.get(), address_.data(), address_.size) != 0) {
        if (errno != EINPROGRESS)
            return last_system_error();
        if (error_code const ec = wait_for(fd_.get(), POLLOUT, deadline_, error::connect_timeout))
            return ec;
        int socket_error = 0;
        socklen_t size = sizeof socket_error;
        ::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &socket_error, &size);
        if (socket_error != 0)
            return {socket_error, boost::system::system_category()};
    }
    connected_ = clock::now();
    result_.tcp = connected_ - start_;
    return {};
}

error_code connection::shake_hands()
{
    if (options_.offered_session != nullptr)
        channel_.engine().resume(*options_.offered_session);
    for (;;) {
        net::progress const progress = channel_.handshake(fd_.get());
        if (progress.error)
            return progress.error;
        if (progress.next == net::wait::none)
            break;
        bool const reads = progress.next == net::wait::readable;
        if (error_code const ec =
                wait_for(fd_.get(), reads ? POLLIN : POLLOUT, deadline_, error::handshake_timeout))
            return ec;
        if (reads && result_.failure.first_bytes.empty())
            keep_first_bytes();
    }
    result_.tls = clock::now() - connected_;
    return {};
}

void connection::keep_first_bytes()
{
    std::array<char, first_bytes_max> bytes{};
    ssize_t const n = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n > 0)
        result_.failure.first_bytes.assign(bytes.data(), static_cast<std::size_t>(n));
}

void connection::read_agreement()
{
    tls::handshake_info const agreed = channel_.engine().info();
    result_.version = agreed.version;
    result_.suite = agreed.cipher;
    result_.group = agreed.group;
    result_.scheme = agreed.signature_scheme;
    result_.alpn = agreed.alpn;
    result_.resumed = agreed.resumed;
    result_.chain = tls::shown_chain(channel_.engine());
}

// Sends a harmless request, and reads until the sessions are there or no more can be expected. In
// TLS 1.2 they came with the handshake.
void connection::wait_for_sessions(milliseconds ticket_wait, std::string_view request)
{
    keep_sessions();
    if (result_.version != "TLSv1.3")
        return;
    std::span<std::byte const> const bytes = std::as_bytes(std::span{request});
    net::channel::piece const pieces[] = {bytes};
    if (channel_.write(fd_.get(), pieces).error)
        return;
    // A ticket follows our Finished, whose round trip takes as long as that of the SYN.
    clock::time_point deadline = clock::now() + ticket_wait + 2 * result_.tcp;
    bool flight_began = false;
    while (result_.sessions.size() < options_.sessions_wanted) {
        net::progress const progress =
            channel_.read(fd_.get(), net::scratch::of_this_thread().plaintext(), limits::turn_max);
        keep_sessions();
        result_.certificate_required =
            result_.certificate_required || channel_.engine().failure().peer_alert == 116;
        if (progress.error)
            return;
        if (!std::exchange(
                flight_began, flight_began || progress.bytes > 0 || !result_.sessions.empty()) &&
            flight_began)
            deadline = std::min(deadline, clock::now() + flight_wait + result_.tcp);
        if (progress.next == net::wait::readable &&
            wait_for(fd_.get(), POLLIN, deadline, error::idle_timeout))
            return;
    }
}

void connection::keep_sessions()
{
    for (tls::session& each : channel_.engine().take_sessions())
        result_.sessions.push_back(std::move(each));
}

std::string first_answer(
    net::address const& address, std::string_view request, std::size_t enough, milliseconds timeout)
{
    clock::time_point const deadline = clock::now() + timeout;
    unique_fd const fd{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd || (::connect(fd.get(), address.data(), address.size) != 0 && errno != EINPROGRESS) ||
        wait_for(fd.get(), POLLOUT, deadline, error::connect_timeout) ||
        ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
        return {};
    std::string answer;
    while (answer.size() < enough && !wait_for(fd.get(), POLLIN, deadline, error::idle_timeout)) {
        std::array<char, first_bytes_max> bytes{};
        ssize_t const n = ::recv(fd.get(), bytes.data(), bytes.size() - answer.size(), 0);
        if (n <= 0)
            break;
        answer.append(bytes.data(), static_cast<std::size_t>(n));
    }
    return answer;
}

std::string plain_answer(
    net::address const& address, std::string_view request, milliseconds timeout)
{
    std::string answer = first_answer(address, request, 1, timeout);
    bool const bad_request = answer.starts_with("HTTP/") && answer.find(" 400 ") != answer.npos;
    return bad_request ? std::string{} : answer;
}

} // namespace cleat::bench
