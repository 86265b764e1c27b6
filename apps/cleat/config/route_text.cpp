#include "admission/address_list.hpp"
#include "config/route_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

bool is_name_character(char c) noexcept
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// As the certificate store has it: with the underscore.
bool is_label(std::string_view label) noexcept
{
    constexpr std::size_t label_size_max = 63; // RFC 1035, section 2.3.4.
    return !label.empty() && label.size() <= label_size_max &&
           std::ranges::all_of(label, is_name_character);
}

bool is_host_name(std::string_view name) noexcept
{
    constexpr std::size_t name_size_max = 253;
    if (name.size() > name_size_max)
        return false;
    for (;;) {
        std::size_t const dot = name.find('.');
        if (!is_label(name.substr(0, dot)))
            return false;
        if (dot == std::string_view::npos)
            return true;
        name.remove_prefix(dot + 1);
    }
}

template <std::size_t N>
ip_prefix ip_prefix_of(prefix<N> const& read)
{
    ip_prefix made{{.is_ipv6 = N == 16}, read.length};
    std::ranges::copy(read.bytes, made.network.bytes.begin());
    return made;
}

} // namespace

parsed<server_name_pattern> parse_server_name(std::string_view text)
{
    using kind = server_name_pattern::kind;
    if (text == "none")
        return server_name_pattern{kind::none, {}};
    if (text == "*")
        return bad_value{
            "* is no name", "Leave sni out: a route without it takes clients with any name."};
    server_name_pattern made{kind::exact, std::string{text}};
    std::ranges::transform(made.name, made.name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (parse_ip_address(text))
        return bad_value{
            fmt::format("{} is an address, which a client sends no SNI for", text),
            "Write sni = none, or leave it out."};
    if (made.name.starts_with("*.")) {
        made.what = kind::wildcard;
        made.name.erase(0, 2);
    }
    if (made.name.ends_with('.'))
        made.name.pop_back();
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x7e; }))
        return bad_value{
            fmt::format("\"{}\" is not in the form of DNS", text),
            "Write the name with xn--, as clients send it."};
    if (!is_host_name(made.name))
        return bad_value{
            fmt::format("\"{}\" is no name that clients ask for", text),
            "Write www.example.org, *.example.org or none. A * stands for the first label only."};
    return made;
}

std::optional<ip_address> parse_ip_address(std::string_view text)
{
    std::string const copy{text};
    ip_address made;
    if (inet_pton(AF_INET, copy.c_str(), made.bytes.data()) == 1)
        return made;
    if (inet_pton(AF_INET6, copy.c_str(), made.bytes.data()) == 1) {
        made.is_ipv6 = true;
        return made;
    }
    return {};
}

parsed<ip_prefix> parse_ip_prefix(std::string_view text)
{
    prefixes found;
    if (std::optional<list_fault> fault = add_prefix(found, text))
        return bad_value{std::move(fault->text), std::move(fault->cure)};
    return found.ipv4.empty() ? ip_prefix_of(found.ipv6.front()) : ip_prefix_of(found.ipv4.front());
}

std::string describe(allow_config const& rule)
{
    std::vector<std::string> conditions;
    for (allow_condition const& each : rule.conditions)
        conditions.push_back(fmt::format("{} {}", name_of(each.part), each.text));
    return fmt::format("{}", fmt::join(conditions, " and "));
}

std::string describe(route_config const& route)
{
    std::vector<std::string> conditions;
    for (setting<server_name_pattern> const& each : route.sni)
        conditions.push_back("sni " + to_string(*each));
    if (!route.alpn->empty())
        conditions.push_back(fmt::format("alpn {}", fmt::join(*route.alpn, ",")));
    for (setting<ip_prefix> const& each : route.client_address)
        conditions.push_back("client-address " + to_string(*each));
    for (allow_config const& each : route.certificate_rules)
        conditions.push_back("client-certificate " + describe(each));
    if (conditions.empty())
        conditions.emplace_back("every client");
    if (*route.passthrough)
        conditions.emplace_back("passthrough");
    return fmt::format("{}", fmt::join(conditions, ", "));
}

std::string to_string(server_name_pattern const& pattern)
{
    switch (pattern.what) {
    case server_name_pattern::kind::exact:
        return pattern.name;
    case server_name_pattern::kind::wildcard:
        return "*." + pattern.name;
    case server_name_pattern::kind::none:
        break;
    }
    return "none";
}

std::string to_string(ip_address const& address)
{
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(
        address.is_ipv6 ? AF_INET6 : AF_INET, address.bytes.data(), static_cast<char*>(text),
        sizeof text);
    return static_cast<char const*>(text);
}

std::string to_string(ip_prefix const& prefix)
{
    return prefix.length == prefix.network.size() * 8
               ? to_string(prefix.network)
               : fmt::format("{}/{}", to_string(prefix.network), prefix.length);
}

} // namespace cleat::app
