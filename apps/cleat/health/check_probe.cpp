#include "health/check_probe.hpp"
#include "upstream/upstream_table.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {

bool check_target::is_same_check(check_target const& other) const noexcept
{
    return upstream == other.upstream && server == other.server && rule == other.rule &&
           tls_name == other.tls_name && are_same(addresses, other.addresses);
}

check_probe::progress check_probe::begin(time_point now)
{
    address_ = 0;
    reason_ = "the server has no address";
    return try_addresses(now);
}

// From address_ on, until one passes or waits.
check_probe::progress check_probe::try_addresses(time_point now)
{
    for (; address_ < target_.addresses.size(); ++address_)
        if (progress const made = connect(now); made != progress::failed)
            return made;
    return progress::failed;
}

check_probe::progress check_probe::connect(time_point now)
{
    net::address const& address = target_.addresses[address_];
    deadline_ = now + target_.rule.timeout;
    talk_.reset();
    socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_)
        return fail(last_system_error());
    if (::connect(socket_.get(), address.data(), address.size) == 0)
        return connected();
    // A UNIX socket whose backlog is full: the server is busy.
    bool const is_busy = errno == EAGAIN && address.family() == AF_UNIX;
    if (is_busy && target_.rule.expect.empty() && !target_.rule.tls)
        return progress::passed;
    return errno == EINPROGRESS ? progress::waits : fail(last_system_error());
}

check_probe::progress check_probe::find_connection()
{
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    return error == 0 ? connected() : fail({error, boost::system::system_category()});
}

check_probe::progress check_probe::connected()
{
    try {
        talk_.emplace(
            target_.rule, target_.rule.tls ? &context_->get() : nullptr, target_.tls_name);
    } catch (tls::spec_error const& e) {
        return fail(e.what());
    }
    return talk();
}

check_probe::progress check_probe::go_on(time_point now)
{
    progress made = progress::waits;
    if (now >= deadline_)
        made = late();
    else if (!talk_)
        made = find_connection();
    else
        made = receive();
    if (made != progress::failed)
        return made;
    ++address_;
    return try_addresses(now);
}

check_probe::progress check_probe::late()
{
    std::int64_t const time = target_.rule.timeout.count();
    if (!talk_)
        return fail(fmt::format("no connection within {} ms", time));
    if (talk_->is_enough())
        return pass();
    bool const is_in_handshake = talk_->present() == check_talk::stage::shakes_hands;
    return fail(
        fmt::format("no {} within {} ms", is_in_handshake ? "TLS handshake" : "answer", time));
}

// Sends what there is to be sent, and finds the result.
check_probe::progress check_probe::talk()
{
    error_code failed;
    bool const is_sent = send(failed);
    if (talk_->present() == check_talk::stage::failed)
        return fail(talk_->reason());
    if (failed)
        return fail(failed);
    return is_sent && talk_->present() == check_talk::stage::passed ? pass() : progress::waits;
}

// False: not all of it.
bool check_probe::send(error_code& failed)
{
    std::string_view const all = talk_->unsent();
    if (all.empty())
        return true;
    ssize_t const sent = ::send(socket_.get(), all.data(), all.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
        talk_->sent(static_cast<std::size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
        failed = last_system_error();
    return talk_->unsent().empty();
}

// A part of the answer: there is another call for the next one.
check_probe::progress check_probe::receive()
{
    if (talk_->present() == check_talk::stage::passed)
        return talk();                               // Not all has been sent.
    std::array<std::byte, limits::record_max> block; // NOLINT: filled by recv
    ssize_t const size = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (size >= 0)
        talk_->receive(std::span{block}.first(static_cast<std::size_t>(size)), size == 0);
    else if (errno != EAGAIN && errno != EINTR)
        return talk_->is_enough() ? pass() : fail(last_system_error());
    return talk();
}

pollfd check_probe::wanted() const noexcept
{
    bool const has_result = talk_ && talk_->present() == check_talk::stage::passed;
    bool const is_sending = !talk_ || !talk_->unsent().empty();
    int const events = (is_sending ? POLLOUT : 0) | (talk_ && !has_result ? POLLIN : 0);
    return {socket_.get(), static_cast<short>(events), 0};
}

check_probe::progress check_probe::pass() noexcept
{
    talk_.reset();
    socket_.reset();
    return progress::passed;
}

check_probe::progress check_probe::fail(std::string reason)
{
    reason_ = std::move(reason);
    talk_.reset();
    socket_.reset();
    return progress::failed;
}

check_probe::progress check_probe::fail(error_code why)
{
    return fail(why.message());
}

} // namespace cleat::app
