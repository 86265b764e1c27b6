// numbers: numbers and percentages as people write them. All options and files read them here.

#pragma once

#include <optional>
#include <string_view>

namespace cleat::bench {

/// take_number reads the number with which a text begins, and removes it from the text. A number is
/// finite and has no sign: "500", "0.1", "1e3". Unset where the text begins with none.
[[nodiscard]] std::optional<double> take_number(std::string_view& text);

/// parse_number reads a text that is such a number and nothing else.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// parse_percent reads a percentage, "5%" or "5 %", as a part: 0.05.
[[nodiscard]] std::optional<double> parse_percent(std::string_view text);

} // namespace cleat::bench
