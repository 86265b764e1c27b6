// old_hello: a ClientHello of the versions that no TLS library here speaks any more, byte by byte.
// A server is asked with it whether it still does.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// old_version is one that must not be used any more (RFC 7568, RFC 8996), as it is on the wire.
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
/// section 7.4.1.2), the suites that servers had in those days, and `server_name` where there is
/// one. SSL 3.0 has no extensions (RFC 6101, section 5.6.1.2).
[[nodiscard]] std::string old_hello(old_version v, std::string_view server_name);

/// So many bytes of an answer say which version was chosen.
inline constexpr std::size_t chosen_version_size = 11;

/// chosen_version is that of the ServerHello that `answer` begins with; nothing where it is
/// something else, such as an alert, or too short.
[[nodiscard]] std::optional<std::uint16_t> chosen_version(std::string_view answer) noexcept;

} // namespace cleat::bench
