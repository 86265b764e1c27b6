#include "generate/target.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"

#include <cleat/core/unique_fd.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace cleat::bench {
namespace {

constexpr std::uint32_t sources_max = 4096;

// Of a host's name in text (RFC 1035, section 2.3.4: 255 with the lengths of its labels).
constexpr std::size_t name_size_max = 253;
constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

[[noreturn]] void refuse_target(std::string const& text)
{
    throw std::runtime_error{text};
}

std::uint32_t ipv4(std::string const& text)
{
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1)
        refuse_target(
            fmt::format("--source {}: not an IPv4 address; ranges are of IPv4 only", text));
    return ntohl(address.s_addr);
}

} // namespace

std::string server_name_of(std::string const& host)
{
    if (host.find(':') != std::string::npos)
        return host.substr(0, host.find('%'));
    return host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

bool is_address(std::string const& text) noexcept
{
    in6_addr parsed{};
    return ::inet_pton(AF_INET, text.c_str(), &parsed) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), &parsed) == 1;
}

void check_server_name(std::string const& option, std::string const& name)
{
    bool const bracketed = name.starts_with('[') && name.ends_with(']');
    if (is_address(bracketed ? name.substr(1, name.size() - 2) : name))
        refuse_target(fmt::format(
            "{} {}: SNI has no addresses (RFC 6066, section 3): give a host's name, or leave {} "
            "out: a target that is an address is asked for no name",
            option, name, option));
    if (name.find_first_not_of(name_characters) != std::string::npos)
        refuse_target(fmt::format(
            "{} '{}': a host's name has letters, digits, hyphens and dots; write an international "
            "one as it is in DNS: xn--...",
            option, name));
    if (name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string::npos)
        refuse_target(fmt::format(
            "{} {}: a name in SNI neither begins nor ends with a dot (RFC 6066, section 3), and "
            "has no two in a row",
            option, name));
    if (name.size() > name_size_max)
        refuse_target(fmt::format(
            "{}: a name of {} letters; a host's has {} at most", option, name.size(),
            name_size_max));
}

std::string host_field(std::string const& name, std::string const& port)
{
    std::string const host = name.find(':') == std::string::npos ? name : fmt::format("[{}]", name);
    return port == "443" ? host : fmt::format("{}:{}", host, port);
}

target parse_target(std::string const& text)
{
    target found;
    std::string_view rest{text};
    if (rest.starts_with("http://"))
        refuse_target(fmt::format(
            "{}: that is plain HTTP; cleat-bench speaks TLS: write https:// or HOST:PORT", text));
    if (rest.starts_with("https://"))
        rest.remove_prefix(8);
    rest = rest.substr(0, rest.find('#')); // A fragment is the browser's, not the server's.
    std::size_t const slash = rest.find('/');
    if (slash != std::string_view::npos) {
        found.path = rest.substr(slash);
        rest = rest.substr(0, slash);
    }
    found.port = "443";
    std::size_t const colon = rest.rfind(':');
    bool const bracketed = rest.starts_with('[');
    std::size_t const closing = rest.find(']');
    if (bracketed && closing == std::string_view::npos)
        refuse_target(fmt::format("{}: the bracket of an IPv6 address is not closed", text));
    if (!bracketed && colon != std::string_view::npos && rest.find(':') != colon)
        refuse_target(fmt::format(
            "{}: write an IPv6 address in brackets: [{}]:{}, or [{}]:443", text,
            rest.substr(0, colon), rest.substr(colon + 1), rest));
    if (colon != std::string_view::npos && (!bracketed || colon > closing)) {
        found.port = rest.substr(colon + 1);
        rest = rest.substr(0, colon);
    }
    if (bracketed)
        rest = rest.substr(1, closing - 1);
    found.host = rest;
    std::optional<unsigned> const port = parse_whole<unsigned>(found.port);
    if (!port || *port == 0 || *port > 65535)
        refuse_target(fmt::format("{}: the port is a number from 1 to 65535", text));
    if (found.host.empty())
        refuse_target(fmt::format("{}: the host is missing: write HOST:PORT", text));
    return found;
}

target find_target(std::string const& text)
{
    target found = parse_target(text);
    auto addresses = net::resolve(found.host, found.port);
    if (!addresses || addresses->empty())
        throw unreachable{fmt::format(
            "{}: no address is known for this name: {}; check the spelling, or give a number",
            found.host, addresses ? "none found" : addresses.error().message())};
    found.addresses = std::move(*addresses);
    return found;
}

net::address first_that_answers(
    std::span<net::address const> addresses, std::chrono::milliseconds limit)
{
    if (addresses.size() == 1)
        return addresses.front();
    for (net::address const& each : addresses) {
        unique_fd const fd{::socket(each.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (!fd)
            continue;
        if (::connect(fd.get(), each.data(), each.size) == 0)
            return each;
        pollfd connected{fd.get(), POLLOUT, 0};
        int error = 0;
        socklen_t size = sizeof error;
        if (errno == EINPROGRESS && ::poll(&connected, 1, static_cast<int>(limit.count())) == 1 &&
            ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
            return each;
    }
    return addresses.front();
}

std::vector<net::address> find_sources(std::string const& text)
{
    std::vector<net::address> found;
    for (std::string_view const each : comma_separated(text)) {
        std::string const item{each};
        std::size_t const dash = item.find('-');
        if (dash == std::string::npos) {
            auto const one = net::resolve(item, "0");
            if (item.empty() || !one || one->empty())
                refuse_target(fmt::format("--source {}: not an address of this machine", item));
            found.push_back(one->front());
            continue;
        }
        std::uint32_t const first = ipv4(item.substr(0, dash));
        std::uint32_t const last = ipv4(item.substr(dash + 1));
        if (last < first || last - first >= sources_max)
            refuse_target(fmt::format(
                "--source {}: a range goes up, over at most {} addresses", item, sources_max));
        for (std::uint32_t number = first; number <= last; ++number) {
            sockaddr_in const address{
                .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(number)}, .sin_zero = {}};
            net::address one;
            std::memcpy(&one.storage, &address, sizeof address);
            one.size = sizeof address;
            found.push_back(one);
        }
    }
    return found;
}

void check_own(net::address const& source)
{
    std::string const text = net::to_string(source);
    unique_fd const fd{::socket(source.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (fd && ::bind(fd.get(), source.data(), source.size) != 0 && errno == EADDRNOTAVAIL)
        refuse_target(fmt::format(
            "--source {}: not an address of this machine: see `ip addr` for those it has, or add "
            "this one to an interface",
            text.substr(0, text.rfind(':'))));
}

} // namespace cleat::bench
