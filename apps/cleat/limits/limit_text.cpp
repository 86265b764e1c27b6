#include "limits/client_prefix.hpp"
#include "limits/limit_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat::app {
namespace {

// Empty for an unknown address.
std::string text_of_client(explained_limits const& found)
{
    if (found.address.empty())
        return {};
    prefix_lengths const& lengths = found.all.clients.prefixes;
    client_prefix const prefix = prefix_of(found.address, lengths);
    in6_addr whole{};
    static_assert(sizeof whole.s6_addr == sizeof prefix);
    for (std::size_t i = 0; i < prefix.size(); ++i)
        whole.s6_addr[i] = prefix[i];
    std::array<char, INET6_ADDRSTRLEN> room{};
    bool const is_ipv4 = IN6_IS_ADDR_V4MAPPED(&whole);
    void const* const bytes = is_ipv4 ? &whole.s6_addr[12] : &whole.s6_addr[0];
    inet_ntop(is_ipv4 ? AF_INET : AF_INET6, bytes, room.data(), socklen_t{INET6_ADDRSTRLEN});
    return fmt::format("{}/{}", room.data(), is_ipv4 ? lengths.ipv4 : lengths.ipv6);
}

std::string client_text(explained_limits const& found, client_limit const& rules)
{
    prefix_lengths const& lengths = found.all.clients.prefixes;
    std::vector<std::string> parts;
    if (rules.connections != 0)
        parts.push_back(fmt::format("{} connections", rules.connections));
    if (rules.handshake_rate != 0)
        parts.push_back(fmt::format(
            "{} handshakes a second, {} at once", rules.handshake_rate, rules.handshake_burst));
    std::string const prefix = text_of_client(found);
    return fmt::format(
        "{} of {}", fmt::join(parts, " and "),
        !prefix.empty() ? prefix
                        : fmt::format("an IPv4 /{} or IPv6 /{}", lengths.ipv4, lengths.ipv6));
}

std::string number_json(std::uint32_t limit)
{
    return limit == 0 ? "null" : fmt::to_string(limit);
}

std::uint32_t burst_of(client_limit const& rules) noexcept
{
    return rules.handshake_rate == 0 ? 0 : rules.handshake_burst;
}

} // namespace

std::string describe(explained_limits const& found)
{
    std::vector<std::string> parts;
    if (found.all.connections != 0)
        parts.push_back(fmt::format("{} connections in all", found.all.connections));
    if (found.frontend.connections != 0)
        parts.push_back(fmt::format("{} connections of the frontend", found.frontend.connections));
    if (found.route.connections != 0)
        parts.push_back(fmt::format("{} connections of the route", found.route.connections));
    if (found.frontend.clients.is_on())
        parts.push_back(
            client_text(found, found.frontend.clients) +
            (found.frontend.counts_apart ? " at this frontend" : ""));
    if (found.route.clients.is_on())
        parts.push_back(client_text(found, found.route.clients) + " at the route");
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string limits_json(explained_limits const& found)
{
    client_limit const& rules = found.frontend.clients;
    client_limit const& of_route = found.route.clients;
    bool const is_on = rules.is_on() || of_route.is_on();
    std::string const prefix = is_on ? text_of_client(found) : std::string{};
    return fmt::format(
        "{{\"connections\": {}, \"frontend_connections\": {}, "
        "\"route_connections\": {}, \"client\": {}, "
        "\"client_connections\": {}, \"client_handshake_rate\": {}, "
        "\"client_handshake_burst\": {}, \"counted_at_frontend\": {}, "
        "\"route_client_connections\": {}, \"route_client_handshake_rate\": {}, "
        "\"route_client_handshake_burst\": {}}}",
        number_json(found.all.connections), number_json(found.frontend.connections),
        number_json(found.route.connections),
        prefix.empty() ? "null" : fmt::format("\"{}\"", prefix), number_json(rules.connections),
        number_json(rules.handshake_rate), number_json(burst_of(rules)),
        rules.is_on() && found.frontend.counts_apart, number_json(of_route.connections),
        number_json(of_route.handshake_rate), number_json(burst_of(of_route)));
}

} // namespace cleat::app
