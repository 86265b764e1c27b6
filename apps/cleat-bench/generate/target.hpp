// target: what an address on the command line means.

#pragma once

#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::bench {

/// target is a server: where it is, and the name that clients ask it for.
struct target
{
    std::string host; ///< Without brackets.
    std::string port;
    std::string path = "/";              ///< From a URL.
    std::vector<net::address> addresses; ///< As the resolver orders them.
};

/// unreachable is a server that cannot be reached: its name has no address, or nothing listens
/// there. The command line may be right, so the exit code is not that of a wrong one.
struct unreachable : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// parse_target reads HOST, HOST:PORT, [V6]:PORT or https://HOST:PORT/PATH; a path may follow
/// without https://, too. Port 443 where none is given. It has no addresses yet. Throws
/// std::runtime_error that says what is wrong and what to do.
[[nodiscard]] target parse_target(std::string const& text);

/// find_target is parse_target with the addresses of the name. Throws std::runtime_error as that;
/// unreachable where the name has no address.
[[nodiscard]] target find_target(std::string const& text);

/// server_name_of is the name of a host in SNI and in certificates: without the zone of an IPv6
/// address, which is of one machine only (RFC 4007, section 11.2), and without a dot at the end.
[[nodiscard]] std::string server_name_of(std::string const& host);

/// is_address: IPv4 or IPv6, without brackets.
[[nodiscard]] bool is_address(std::string const& text) noexcept;

/// check_server_name refuses a name that SNI cannot carry (RFC 6066, section 3). Throws
/// std::runtime_error that names the option.
void check_server_name(std::string const& option, std::string const& name);

/// host_field is the value of an HTTP request's Host (RFC 9110, section 7.2).
[[nodiscard]] std::string host_field(std::string const& name, std::string const& port);

/// first_that_answers is the first of several addresses that takes a connection within `limit`; the
/// first of all where none does. A name often has an IPv6 address at which its server does not
/// listen. A single address is not tried.
[[nodiscard]] net::address first_that_answers(
    std::span<net::address const> addresses, std::chrono::milliseconds limit);

/// find_sources reads source addresses: "127.0.0.1", several with commas, a range
/// "127.0.0.1-127.0.0.20" (IPv4). Throws std::runtime_error.
[[nodiscard]] std::vector<net::address> find_sources(std::string const& text);

/// check_own refuses a source address that this machine does not have. Throws std::runtime_error.
void check_own(net::address const& source);

} // namespace cleat::bench
