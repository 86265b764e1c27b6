// sha1: SHA-1 and Base64, of the opening of WebSockets. Not for anything that has to be secret.

#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cleat::bench {

/// sha1 is the digest of a text (FIPS 180-4).
[[nodiscard]] std::array<std::byte, 20> sha1(std::string_view text);

/// base64 is the text of bytes (RFC 4648, section 4).
[[nodiscard]] std::string base64(std::span<std::byte const> bytes);

} // namespace cleat::bench
