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

// The origin of a page that came by the same Host as the request.
bool is_own_page(request_facts const& asked)
{
    constexpr std::string_view scheme = "http://";
    std::string_view origin = *asked.origin;
    if (!asked.host || !origin.starts_with(scheme))
        return false;
    origin.remove_prefix(scheme.size());
    return origin == *asked.host;
}

// Prometheus may know a server that other machines reach by any name. It only reads.
bool takes_any_name(request_facts const& asked, std::string const& own)
{
    return !asked.is_command && !asked.origin && !own.empty() && !is_loopback(own);
}

} // namespace

std::optional<std::string> refusal_of(request_facts const& request, net::address const& server)
{
    if (request.origin && !is_own_page(request))
        return fmt::format(
            "a request with an Origin header ({}) may be a browser's, sent by another site",
            *request.origin);
    // HTTP/1.0 has no Host. Browsers do not speak it.
    if (!request.host)
        return std::nullopt;
    std::string const host = host_of(*request.host);
    bool const is_unix = server.family() == AF_UNIX;
    if (is_unix && !request.origin && host.find_first_of(".:") == host.npos)
        return std::nullopt;
    std::string const own = is_unix ? std::string{} : host_of(net::to_string(server));
    if (takes_any_name(request, own))
        return std::nullopt;
    if (host == own || is_localhost(host) || is_loopback(host))
        return std::nullopt;
    return fmt::format(
        "the Host {} is no address of this server: write {}", *request.host,
        is_unix ? "localhost" : net::to_string(server));
}

} // namespace cleat::app
