// alpn: lists of application protocols (RFC 7301), and a server's choice. Not a public header.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// alpn_on_wire is a list as a ClientHello has it. Throws spec_error where it has no such form.
[[nodiscard]] std::vector<unsigned char> alpn_on_wire(std::vector<std::string> const& protocols);

/// choose_protocol is the first protocol of a server's list that a client offers; both lists are in
/// the form of the wire. Nothing: they have none in common. Valid as long as both lists.
[[nodiscard]] std::optional<std::string_view> choose_protocol(
    std::span<unsigned char const> supported, std::span<unsigned char const> offered) noexcept;

} // namespace cleat::tls
