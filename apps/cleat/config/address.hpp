// address: addresses as they are written in the configuration, of frontends and of the backend.
// Text only: no name is looked up and no socket is touched here.

#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cleat::app {

/// bad_value says why a text is not the expected value, and what to write instead.
struct bad_value
{
    bad_value() = default;
    // A constructor, because in C++20 an aggregate can be made of one string, and
    // parsed<std::string> could not tell a value from a reason.
    bad_value(std::string what_is_wrong, std::string what_to_do)
        : text(std::move(what_is_wrong)), cure(std::move(what_to_do))
    {
    }

    std::string text; ///< Without a full stop: "the port is missing".
    std::string cure; ///< A sentence that says what to do about it.
};

/// parsed is a value, or the reason why the text is none.
template <class T>
using parsed = boost::system::result<T, bad_value>;

/// dialect is the program whose rules hold where stud and hitch differ (--compat).
enum class dialect
{
    hitch, ///< `--write-proxy` is PROXY v2; addresses are `[HOST]:PORT`.
    stud,  ///< `--write-proxy` is PROXY v1; `HOST,PORT` is an address too.
};

/// host_port is a name or number and a TCP port.
struct host_port
{
    std::string host = "*"; ///< "*" is any address, of IPv4 and IPv6. No brackets around IPv6.
    std::uint16_t port =
        0; ///< 0 is any free port: only for listening. The log names the port that it became.

    friend bool operator==(host_port const&, host_port const&) = default;
};

/// unix_path is the path of a UNIX stream socket.
struct unix_path
{
    std::string path;

    friend bool operator==(unix_path const&, unix_path const&) = default;
};

/// service_name is a name whose SRV records say where the servers are.
struct service_name
{
    std::string name;

    friend bool operator==(service_name const&, service_name const&) = default;
};

/// upstream_address is where plaintext goes.
using upstream_address = std::variant<host_port, unix_path, service_name>;

/// admin_address is where the admin server listens; std::monostate: it is off.
using admin_address = std::variant<std::monostate, host_port, unix_path>;

/// listen_address is where to listen for TLS, with the certificate of this address alone.
struct listen_address
{
    host_port where;
    std::string certificate; ///< The part after "+"; empty when there is none.
};

/// parse_listen_address reads `[HOST]:PORT`, `[*]:PORT`, `HOST:PORT` or `*:PORT`, each with `+CERT`
/// behind it, and in stud's dialect `HOST,PORT`. An IPv6 address needs its brackets. The port is 0
/// to 65535.
[[nodiscard]] parsed<listen_address> parse_listen_address(std::string_view text, dialect compat);

/// parse_upstream_address reads the same without "*" and "+CERT", with a port of 1 to 65535; or the
/// path of a UNIX socket, which begins with a slash; or srv:NAME.
[[nodiscard]] parsed<upstream_address> parse_upstream_address(
    std::string_view text, dialect compat);

/// parse_dns_server reads an address with a numeric HOST: `HOST`, `HOST:PORT`, `[HOST]` or
/// `[HOST]:PORT`. Without a port it is 53.
[[nodiscard]] parsed<host_port> parse_dns_server(std::string_view text);

/// parse_admin_address reads `[HOST]:PORT` with a numeric HOST and a port of 0 to 65535; or the
/// path of a UNIX socket, which begins with a slash.
[[nodiscard]] parsed<admin_address> parse_admin_address(std::string_view text, dialect compat);

/// is_number: the host is the number of an IPv4 or IPv6 address, without brackets.
[[nodiscard]] bool is_number(std::string const& host) noexcept;

/// is_loopback: the host is a number that only this machine reaches: 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(std::string const& host) noexcept;

/// parse_host reads a host alone, as a frontend block has it: a name, a number, "*", or "[::1]".
[[nodiscard]] parsed<std::string> parse_host(std::string_view text);

/// parse_port reads a port alone, from `lowest` to 65535.
[[nodiscard]] parsed<std::uint16_t> parse_port(std::string_view text, std::uint16_t lowest);

/// to_string writes an address as parse_listen_address, parse_upstream_address and
/// parse_admin_address read it; an admin server that is off is empty.
[[nodiscard]] std::string to_string(host_port const& address);
[[nodiscard]] std::string to_string(upstream_address const& address);
[[nodiscard]] std::string to_string(admin_address const& address);

} // namespace cleat::app
