// old_hello: a ClientHello of old versions, byte by byte, because no TLS library here supports
// them. It finds out whether a server still does.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// old_version is a version that must not be used (RFC 7568, RFC 8996), as on the wire.
enum class old_version : std::uint16_t
{
    ssl_3_0 = 0x0300,
    tls_1_0 = 0x0301,
    tls_1_1 = 0x0302
};

inline constexpr std::array old_versions{
    old_version::tls_1_1, old_version::tls_1_0, old_version::ssl_3_0};

/// name_of is "TLS 1.1".
[[nodiscard]] std::string_view name_of(old_version v) noexcept;

/// old_hello is a whole record with a ClientHello that offers `v` and nothing later (RFC 2246,
/// section 7.4.1.2), the suites that servers of that time had, and `server_name` if not empty.
/// SSL 3.0 has no extensions (RFC 6101, section 5.6.1.2).
[[nodiscard]] std::string old_hello(old_version v, std::string_view server_name);

/// The bytes of an answer that chosen_version needs.
inline constexpr std::size_t chosen_version_size = 11;

/// chosen_version of the ServerHello at the beginning of `answer`; unset if `answer` begins with
/// something else, such as an alert, or is too short.
[[nodiscard]] std::optional<std::uint16_t> chosen_version(std::string_view answer) noexcept;

} // namespace cleat::bench
