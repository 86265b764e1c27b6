// whole_number: a text that is a number, and nothing else.

#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace cleat::app {

/// whole_number is the number that the whole text is, in decimal digits; for a signed type it may
/// have a minus. Nothing for any other text, and for a number that the type does not hold.
template <class Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) noexcept
{
    Number number{};
    char const* const end = text.data() + text.size();
    auto const [stop, failed] = std::from_chars(text.data(), end, number);
    return failed == std::errc{} && stop == end ? std::optional{number} : std::nullopt;
}

} // namespace cleat::app
