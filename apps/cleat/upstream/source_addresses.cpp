#include "upstream/source_addresses.hpp"

#include <cerrno>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

// So many connects take their port from the whole range once the worker's own are used up.
constexpr std::size_t connects_without_slice = 256;

// The port is chosen by connect(), which knows the other end: one port can then serve connections
// to several servers. The option is one of IPv4's level for sockets of both families.
error_code bind_to(int fd, net::address const& source) noexcept
{
    int const on = 1;
    static_cast<void>(::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on));
    if (::bind(fd, source.data(), source.size) != 0)
        return last_system_error();
    return {};
}

// False: this machine has no address that could reach it, for example none of IPv6. connect() has
// the same error for that as for ports that are used up; UDP has ports of its own.
bool has_route(net::address const& destination) noexcept
{
    unique_fd const fd{::socket(destination.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    return !fd || ::connect(fd.get(), destination.data(), destination.size) == 0 ||
           errno != EADDRNOTAVAIL;
}

// Another source may do.
bool is_of_source(error_code why) noexcept
{
    return why == error::local_ports_used_up ||
           why == boost::system::errc::address_not_available; // It is no more.
}

} // namespace

// Null: the kernel chooses the source.
result<unique_fd> source_addresses::connect_from(
    net::address const* source, net::address const& destination) noexcept
{
    unique_fd fd{::socket(destination.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!fd)
        return last_system_error();
    bool const is_tcp = destination.family() != AF_UNIX;
    if (is_tcp && slice_ && without_slice_ == 0 && !use_slice(fd.get(), slice_))
        slice_.reset(); // The kernel has none.
    if (source != nullptr)
        if (error_code const ec = bind_to(fd.get(), *source))
            return ec;
    if (::connect(fd.get(), destination.data(), destination.size) == 0 || errno == EINPROGRESS)
        return fd;
    error_code const failed = last_system_error();
    if (failed == boost::system::errc::address_not_available &&
        (source != nullptr || has_route(destination)))
        return make_error_code(error::local_ports_used_up);
    return failed;
}

source_addresses::source_addresses(
    std::span<net::address const> all, std::size_t first, std::optional<local_ports> slice)
    : slice_{slice}
{
    for (net::address const& each : all)
        of_family(each.family()).addresses.push_back(each);
    for (rotation* const each : {&ipv4_, &ipv6_})
        if (!each->addresses.empty())
            each->turn = first % each->addresses.size();
}

source_addresses::rotation& source_addresses::of_family(int family) noexcept
{
    if (family == AF_INET)
        return ipv4_;
    return family == AF_INET6 ? ipv6_ : none_;
}

result<unique_fd> source_addresses::connect(net::address const& destination) noexcept
{
    bool const has_slice = slice_ && without_slice_ == 0;
    result<unique_fd> made = connect_from_any(destination);
    if (without_slice_ > 0)
        --without_slice_;
    if (made || !has_slice || made.error() != error::local_ports_used_up)
        return made;
    // The kernel looks at each port of a slice that is used up: not at each connect.
    without_slice_ = connects_without_slice;
    return connect_from_any(destination);
}

result<unique_fd> source_addresses::connect_from_any(net::address const& destination) noexcept
{
    rotation& sources = of_family(destination.family());
    if (sources.addresses.empty())
        return connect_from(nullptr, destination);
    result<unique_fd> made = make_error_code(error::local_ports_used_up);
    for (std::size_t i = 0; i < sources.addresses.size(); ++i) {
        net::address const& source = sources.addresses[sources.turn];
        sources.turn = sources.turn + 1 == sources.addresses.size() ? 0 : sources.turn + 1;
        made = connect_from(&source, destination);
        if (made || !is_of_source(made.error()))
            break;
    }
    return made;
}

error_code check_source(net::address const& source) noexcept
{
    unique_fd const fd{::socket(source.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return fd ? bind_to(fd.get(), source) : last_system_error();
}

} // namespace cleat::app
