#include "config/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace cleat::app {
namespace {

constexpr std::size_t host_bytes_max = 253; // RFC 1035, as text
constexpr std::size_t unix_path_bytes_max =
    sizeof(sockaddr_un{}.sun_path) - 1; // and its final zero

constexpr std::string_view service_prefix = "srv:";
constexpr std::string_view unix_mark = "unix:"; // As the log writes an address.

struct pieces
{
    std::string_view host;
    std::string_view rest; // what follows the separator
};

bad_value not_an_address(std::string_view text)
{
    return {
        fmt::format("\"{}\" is not an address", text),
        "Write [HOST]:PORT, for example [127.0.0.1]:8443 or [::1]:8443.",
    };
}

// Splits at the one place where a host can end. An IPv6 address without brackets has no such place.
parsed<pieces> split(std::string_view text, dialect compat)
{
    if (text.starts_with('[')) {
        std::size_t const end = text.find(']');
        if (end == text.npos)
            return bad_value{
                fmt::format("\"{}\" has no closing bracket", text), "Write [HOST]:PORT."};
        if (!text.substr(end + 1).starts_with(':'))
            return bad_value{
                fmt::format("\"{}\" has no port", text),
                fmt::format("Write {}:PORT.", text.substr(0, end + 1))};
        return pieces{text.substr(1, end - 1), text.substr(end + 2)};
    }

    std::size_t const separator = text.find_first_of(":,");
    if (separator == text.npos)
        return not_an_address(text);
    pieces const found{text.substr(0, separator), text.substr(separator + 1)};

    if (text[separator] == ',') {
        if (compat == dialect::stud)
            return found;
        return bad_value{
            fmt::format("\"{}\" is stud's way to write an address", text),
            fmt::format("Write [{}]:{}, or start with --compat=stud.", found.host, found.rest)};
    }
    if (found.rest.substr(0, found.rest.find('+')).find(':') != text.npos)
        return bad_value{
            fmt::format("in \"{}\" the IPv6 address and the port cannot be told apart", text),
            "Put the address in brackets: [::1]:8443."};
    return found;
}

parsed<unix_path> parse_unix_path(std::string_view text)
{
    if (text.size() > unix_path_bytes_max)
        return bad_value{
            fmt::format("the socket's path has {} bytes", text.size()),
            fmt::format("The system allows {}: use a shorter path.", unix_path_bytes_max)};
    return unix_path{std::string{text}};
}

std::string_view without_mark(std::string_view text)
{
    return text.starts_with(unix_mark) ? text.substr(unix_mark.size()) : text;
}

// "srv:8080" is a host with that name.
bool is_service(std::string_view text)
{
    constexpr std::string_view digits = "0123456789";
    return text.starts_with(service_prefix) &&
           text.find_first_not_of(digits, service_prefix.size()) != text.npos;
}

bool is_host_byte(char c)
{
    auto const byte = static_cast<unsigned char>(c);
    return byte > ' ' && byte != 0x7f && c != '[' && c != ']' && c != '/';
}

} // namespace

parsed<std::string> parse_host(std::string_view text)
{
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
        text = text.substr(1, text.size() - 2);
    if (text.empty())
        return bad_value{"the host is empty", "Write * for any address."};
    if (text.size() > host_bytes_max)
        return bad_value{
            fmt::format("the host has {} bytes", text.size()),
            fmt::format("A name has at most {}.", host_bytes_max)};
    if (!std::ranges::all_of(text, is_host_byte))
        return bad_value{
            fmt::format("\"{}\" is not a host", text), "Write a name, an IP address or *."};
    return std::string{text};
}

parsed<std::uint16_t> parse_port(std::string_view text, std::uint16_t lowest)
{
    std::string const cure = lowest == 0 ? "Write a number from 1 to 65535, or 0 for any free port."
                                         : "Write a number from 1 to 65535.";
    if (text.empty())
        return bad_value{"the port is missing", cure};

    std::uint16_t port = 0;
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (ec == std::errc::result_out_of_range)
        return bad_value{fmt::format("port {} is out of range", text), cure};
    if (ec != std::errc{} || end != text.data() + text.size())
        return bad_value{fmt::format("\"{}\" is not a port", text), cure};
    if (port < lowest)
        return bad_value{"port 0 is no place to connect to", cure};
    return port;
}

parsed<listen_address> parse_listen_address(std::string_view text, dialect compat)
{
    if (text.starts_with('/') || text.starts_with("unix:"))
        return bad_value{
            fmt::format("\"{}\" is a path", text), "cleat listens on TCP only: write [HOST]:PORT."};
    parsed<pieces> const found = split(text, compat);
    if (!found)
        return found.error();

    parsed<std::string> host = parse_host(found->host);
    if (!host)
        return host.error();

    std::size_t const plus = found->rest.find('+');
    parsed<std::uint16_t> const port = parse_port(found->rest.substr(0, plus), 0);
    if (!port)
        return port.error();
    if (plus == text.npos)
        return listen_address{{*std::move(host), *port}, {}};

    std::string_view const certificate = found->rest.substr(plus + 1);
    if (certificate.empty())
        return bad_value{
            "no file follows the \"+\"", "Write [HOST]:PORT+CERT, or leave the \"+\" out."};
    return listen_address{{*std::move(host), *port}, std::string{certificate}};
}

parsed<upstream_address> parse_upstream_address(std::string_view text, dialect compat)
{
    std::string_view const after_mark = without_mark(text);
    if (after_mark.starts_with('/')) {
        parsed<unix_path> path = parse_unix_path(after_mark);
        if (!path)
            return path.error();
        return upstream_address{*std::move(path)};
    }
    if (is_service(text)) {
        parsed<std::string> name = parse_host(text.substr(service_prefix.size()));
        if (!name)
            return name.error();
        if (name->find_first_of(":*") != name->npos)
            return bad_value{
                fmt::format("\"{}\" is not the name of a service", *name),
                "Write srv:NAME without a port, for example srv:_http._tcp.app.example: the SRV "
                "records have the ports."};
        return upstream_address{service_name{*std::move(name)}};
    }
    parsed<pieces> const found = split(text, compat);
    if (!found)
        return found.error();
    if (found->host == "*")
        return bad_value{
            "\"*\" is no place to connect to", "Name one host, for example [127.0.0.1]:8080."};

    parsed<std::string> host = parse_host(found->host);
    if (!host)
        return host.error();
    parsed<std::uint16_t> const port = parse_port(found->rest, 1);
    if (!port)
        return port.error();
    return upstream_address{host_port{*std::move(host), *port}};
}

namespace {

// The host is a number, not a name. `cure` says how an address is written.
parsed<host_port> number_and_port(pieces const& found, std::uint16_t lowest, std::string cure)
{
    std::string host{found.host};
    if (!is_number(host))
        return bad_value{
            fmt::format("\"{}\" is not the number of an address", host), std::move(cure)};
    parsed<std::uint16_t> const port = parse_port(found.rest, lowest);
    if (!port)
        return port.error();
    return host_port{std::move(host), *port};
}

} // namespace

parsed<host_port> parse_dns_server(std::string_view text)
{
    constexpr std::uint16_t dns_port = 53;
    std::string const whole{text};
    if (is_number(whole))
        return host_port{whole, dns_port};
    bool const has_port = !text.starts_with('[') || !text.ends_with(']');
    parsed<pieces> const found =
        has_port ? split(text, dialect::hitch) : pieces{text.substr(1, text.size() - 2), "53"};
    if (!found)
        return found.error();
    return number_and_port(
        *found, 1, "Write the address of a server of DNS, such as 192.0.2.53 or 127.0.0.1:5353.");
}

parsed<admin_address> parse_admin_address(std::string_view text, dialect compat)
{
    constexpr std::string_view cure =
        "Write [127.0.0.1]:PORT or [::1]:PORT, or the absolute path of a UNIX socket: "
        "/run/cleat/admin.sock or unix:/run/cleat/admin.sock.";
    std::string_view const place_or_path = without_mark(text);
    if (place_or_path.starts_with('/')) {
        parsed<unix_path> path = parse_unix_path(place_or_path);
        if (!path)
            return path.error();
        return admin_address{*std::move(path)};
    }
    if (place_or_path != text || text.find('/') != text.npos)
        return bad_value{
            fmt::format("\"{}\" is not an absolute path", place_or_path), std::string{cure}};
    if (text.find_first_of("[:,") == text.npos)
        return bad_value{fmt::format("\"{}\" is not an address", text), std::string{cure}};
    parsed<pieces> const found = split(text, compat);
    if (!found)
        return found.error();
    parsed<host_port> place = number_and_port(*found, 0, std::string{cure});
    if (!place)
        return place.error();
    return admin_address{*std::move(place)};
}

bool is_number(std::string const& host) noexcept
{
    in6_addr number{}; // Large enough for both families.
    return ::inet_pton(AF_INET, host.c_str(), &number) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &number) == 1;
}

bool is_loopback(std::string const& host) noexcept
{
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1)
        return ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    in6_addr v6{};
    return ::inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string to_string(host_port const& address)
{
    return fmt::format("[{}]:{}", address.host, address.port);
}

std::string to_string(upstream_address const& address)
{
    if (auto const* unix_socket = std::get_if<unix_path>(&address))
        return unix_socket->path;
    if (auto const* service = std::get_if<service_name>(&address))
        return std::string{service_prefix} + service->name;
    return to_string(std::get<host_port>(address));
}

std::string to_string(admin_address const& address)
{
    if (std::holds_alternative<std::monostate>(address))
        return {};
    if (auto const* unix_socket = std::get_if<unix_path>(&address))
        return unix_socket->path;
    return to_string(std::get<host_port>(address));
}

} // namespace cleat::app
