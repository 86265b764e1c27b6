// host_name: the names in certificates, and those that clients send. Not a public header.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::tls {

/// RFC 1035, section 2.3.4, without the root's empty label.
inline constexpr std::size_t host_name_size_max = 253;

/// is_usable_name: name is a DNS name, or one label "*" and then a DNS name. Others match nothing.
[[nodiscard]] bool is_usable_name(std::string_view name) noexcept;

/// name_key is a usable name as a store keeps it: in lower case, without a dot at the end, and
/// ".example.com" for "*.example.com".
[[nodiscard]] std::string name_key(std::string_view name);

/// without_final_dot is the name without the root's label.
[[nodiscard]] std::string_view without_final_dot(std::string_view name) noexcept;

/// is_same_name: the name is that of the key, whatever its case.
[[nodiscard]] bool is_same_name(std::string_view name, std::string_view key) noexcept;

} // namespace cleat::tls
