// route_text: the conditions of a route, as they are written in the configuration.

#pragma once

#include "admission/ip_prefix.hpp"
#include "config/address.hpp"
#include "config/config.hpp"
#include "route/route_table.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// parse_server_name reads `www.example.org`, `*.example.org` or `none`.
[[nodiscard]] parsed<server_name_pattern> parse_server_name(std::string_view text);

/// parse_ip_address reads 192.0.2.1 or 2001:db8::1.
[[nodiscard]] std::optional<ip_address> parse_ip_address(std::string_view text);

/// parse_ip_prefix reads 192.0.2.0/24, 2001:db8::/32, or an address alone, as a list of addresses
/// does.
[[nodiscard]] parsed<ip_prefix> parse_ip_prefix(std::string_view text);

/// describe is the conditions of a rule for certificates: "cn alice and eku clientAuth".
[[nodiscard]] std::string describe(allow_config const& rule);

/// describe is the conditions of a route on one line: "sni *.example.org, alpn h2".
[[nodiscard]] std::string describe(route_config const& route);

/// to_string writes what these functions read.
[[nodiscard]] std::string to_string(server_name_pattern const& pattern);
[[nodiscard]] std::string to_string(ip_address const& address);
[[nodiscard]] std::string to_string(ip_prefix const& prefix);

} // namespace cleat::app
