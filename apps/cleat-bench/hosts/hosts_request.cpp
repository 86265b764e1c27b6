#include "hosts/hosts_request.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace cleat::bench {
namespace {

// Each host is an ssh on this machine, and its progress is read twice a second.
constexpr std::size_t hosts_max = 100;

host_address parse_host(std::string_view text)
{
    host_address found{std::string{text}, std::string{text}, ""};
    std::size_t const at = text.find('@');
    std::string_view const user = at == std::string_view::npos ? "" : text.substr(0, at + 1);
    std::string_view host = text.substr(user.size());
    std::size_t const colon = host.rfind(':');
    std::size_t const closing = host.find(']');
    bool const bracketed = host.starts_with('[');
    bool const is_bare_v6 = !bracketed && host.find(':') != colon;
    if (bracketed && closing == std::string_view::npos)
        refuse_usage(fmt::format("--hosts {}: the bracket is not closed", text));
    if (!is_bare_v6 && colon != std::string_view::npos && (!bracketed || colon > closing)) {
        found.port = host.substr(colon + 1);
        host = host.substr(0, colon);
        auto const port = parse_whole<unsigned>(found.port);
        if (!port || *port == 0 || *port > 65535)
            refuse_usage(fmt::format("--hosts {}: the port is a number from 1 to 65535", text));
    }
    bool const has_rest = bracketed && closing + 1 != host.size();
    if (bracketed)
        host = host.substr(1, closing - 1);
    // ssh would take a name that begins with a hyphen for an option.
    if (host.empty() || text.starts_with('-') || host.starts_with('-') || has_rest || user == "@" ||
        text.find_first_of(" \t'\"\\") != std::string_view::npos)
        refuse_usage(fmt::format(
            "--hosts '{}': write names with commas, each [USER@]HOST[:PORT]: a,b,user@c:2222",
            text));
    found.destination = fmt::format("{}{}", user, host);
    return found;
}

} // namespace

std::vector<host_address> parse_hosts(std::string_view text)
{
    std::vector<host_address> found;
    for (std::string_view const each : comma_separated(text)) {
        host_address one = parse_host(trimmed(each));
        if (std::ranges::find(found, one.name, &host_address::name) != found.end())
            refuse_usage(fmt::format(
                "--hosts: {} is there twice: a host has one generator; give it more --workers",
                one.name));
        found.push_back(std::move(one));
    }
    if (found.size() > hosts_max)
        refuse_usage(fmt::format("--hosts: at most {} of them", hosts_max));
    return found;
}

} // namespace cleat::bench
