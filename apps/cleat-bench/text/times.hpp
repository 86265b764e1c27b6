// times: moments and lengths of time as people and documents write them.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// in_utc writes a moment as in RFC 3339, in UTC with microseconds:
/// "2026-11-21T20:00:00.000000Z".
[[nodiscard]] std::string in_utc(std::chrono::system_clock::time_point t);

/// from_utc reads it. Throws std::runtime_error.
[[nodiscard]] std::chrono::system_clock::time_point from_utc(std::string const& text);

/// parse_length reads a length of time: "10s", "250 ms", "2m", "1h", "1.5s". A number alone is
/// seconds.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_length(std::string_view text);

/// parse_size reads a number of bytes: "1024", "16K", "10M", "1G" (powers of 1024).
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// in_seconds is a length of time as a number.
[[nodiscard]] inline double in_seconds(std::chrono::nanoseconds t) noexcept
{
    return std::chrono::duration<double>{t}.count();
}

/// in_words writes nanoseconds with three digits and the unit that fits: "1.23 ms".
[[nodiscard]] std::string in_words(double ns);

/// bytes_in_words writes a number of bytes: "1.50 MB" (powers of 1000).
[[nodiscard]] std::string bytes_in_words(double bytes);

} // namespace cleat::bench
