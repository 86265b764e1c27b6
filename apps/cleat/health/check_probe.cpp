#include "health/check_probe.hpp"
#include "upstream/upstream_table.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace cleat::app {

bool check_target::is_same_check(check_target const& other) const noexcept
{
    return upstream == other.upstream && server == other.server && rule == other.rule &&
           are_same(addresses, other.addresses);
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
    phase_ = phase::connecting;
    sent_ = 0;
    received_.clear();
    socket_.reset(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_)
        return fail(last_system_error());
    if (::connect(socket_.get(), address.data(), address.size) == 0)
        return connected();
    // A UNIX socket whose backlog is full: the server is busy.
    bool const is_busy = errno == EAGAIN && address.family() == AF_UNIX;
    if (is_busy && target_.rule.expect.empty())
        return progress::passed;
    return errno == EINPROGRESS ? progress::waits : fail(last_system_error());
}

check_probe::progress check_probe::connected()
{
    phase_ = target_.rule.send.empty() ? phase::receiving : phase::sending;
    return run();
}

check_probe::progress check_probe::go_on(time_point now)
{
    progress made = progress::waits;
    if (now >= deadline_) {
        std::int64_t const time = target_.rule.timeout.count();
        made = fail(
            phase_ == phase::connecting ? fmt::format("no connection within {} ms", time)
                                        : fmt::format("no answer within {} ms", time));
    } else {
        made = run();
    }
    if (made != progress::failed)
        return made;
    ++address_;
    return try_addresses(now);
}

check_probe::progress check_probe::run()
{
    switch (phase_) {
    case phase::connecting: {
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
        return error == 0 ? connected() : fail({error, boost::system::system_category()});
    }
    case phase::sending:
        return send();
    case phase::receiving:
        return receive();
    }
    return progress::failed;
}

check_probe::progress check_probe::send()
{
    std::string const& all = target_.rule.send;
    ssize_t const sent =
        ::send(socket_.get(), all.data() + sent_, all.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR ? progress::waits : fail(last_system_error());
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ < all.size())
        return progress::waits;
    phase_ = phase::receiving;
    return receive();
}

check_probe::progress check_probe::receive()
{
    if (target_.rule.expect.empty())
        return pass();
    std::array<char, limits::check_answer_max> block{};
    ssize_t const size = ::recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? progress::waits : fail(last_system_error());
    if (size == 0)
        return fail("the answer has ended without the expected text");
    received_.append(block.data(), static_cast<std::size_t>(size));
    if (received_.find(target_.rule.expect) != received_.npos)
        return pass();
    if (received_.size() >= limits::check_answer_max)
        return fail(fmt::format(
            "the first {} bytes of the answer lack the expected text", limits::check_answer_max));
    return progress::waits;
}

pollfd check_probe::wanted() const noexcept
{
    return {socket_.get(), static_cast<short>(phase_ == phase::receiving ? POLLIN : POLLOUT), 0};
}

check_probe::progress check_probe::pass() noexcept
{
    socket_.reset();
    return progress::passed;
}

check_probe::progress check_probe::fail(std::string reason)
{
    socket_.reset();
    reason_ = std::move(reason);
    return progress::failed;
}

check_probe::progress check_probe::fail(error_code why)
{
    return fail(why.message());
}

} // namespace cleat::app
