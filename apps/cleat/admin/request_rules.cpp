#include "admin/request_rules.hpp"
#include "config/address.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cleat::app {
namespace {

// "[::1]:9443" and "127.0.0.1:9443" without their ports and brackets.
std::string host_of(std::string_view text)
{
    if (text.starts_with('['))
        return std::string{text.substr(1, text.find(']') - 1)};
    return std::string{text.substr(0, text.find(':'))};
}

bool is_localhost(std::string const& host)
{
    return std::ranges::equal(host, std::string_view{"localhost"}, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
    });
}

} // namespace

std::optional<std::string> refusal_of(request_facts const& request, net::address const& server)
{
    if (request.origin)
        return fmt::format(
            "a request with an Origin header ({}) may be a browser's, sent by another site",
            *request.origin);
    if (server.family() == AF_UNIX)
        return std::nullopt;
    std::string const own = host_of(net::to_string(server));
    if (!request.is_command && !is_loopback(own))
        return std::nullopt;
    // HTTP/1.0 has no Host. Browsers do not speak it.
    if (!request.host)
        return std::nullopt;
    std::string const host = host_of(*request.host);
    if (host == own || is_localhost(host) || is_loopback(host))
        return std::nullopt;
    return fmt::format(
        "the Host {} is no address of this server: write {}", *request.host,
        net::to_string(server));
}

} // namespace cleat::app
