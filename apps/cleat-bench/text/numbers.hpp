// numbers: numbers and percentages as people write them. All options and files read them here.

#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace cleat::bench {

/// take_number reads the number with which a text begins, and removes it from the text. A number is
/// finite and has no sign: "500", "0.1", "1e3". Unset where the text begins with none.
[[nodiscard]] std::optional<double> take_number(std::string_view& text);

/// parse_number reads a text that is such a number and nothing else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// parse_whole reads a text that is a whole number of this type and nothing else.
template <std::integral T>
[[nodiscard]] std::optional<T> parse_whole(std::string_view text)
{
    T value{};
    char const* const end = text.data() + text.size();
    auto const read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end ? std::optional{value} : std::nullopt;
}

/// parse_percent reads a percentage, "5%" or "5 %", as a part: 0.05.
[[nodiscard]] std::optional<double> parse_percent(std::string_view text);

} // namespace cleat::bench
