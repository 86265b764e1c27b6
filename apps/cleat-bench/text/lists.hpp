// lists: texts that are cut from a longer one.

#pragma once

#include <string_view>
#include <vector>

namespace cleat::bench {

/// comma_separated cuts a list at its commas. A comma at the end ends the list; an item between two
/// commas is empty. The views are into `text`.
[[nodiscard]] std::vector<std::string_view> comma_separated(std::string_view text);

/// trimmed is a text without the blanks and carriage returns around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

} // namespace cleat::bench
