// fields: the fields of HTTP messages (RFC 9110, section 5), whose names and many of whose words do
// not depend on the case.

#pragma once

#include <string_view>

namespace cleat::bench {

/// is_same_word compares without case (ASCII).
[[nodiscard]] bool is_same_word(std::string_view one, std::string_view other) noexcept;

/// has_word: a value has the word in a list with commas, as in "Connection: keep-alive, close".
[[nodiscard]] bool has_word(std::string_view value, std::string_view word) noexcept;

/// has_name: a field "Name: value" has that name.
[[nodiscard]] bool has_name(std::string_view field, std::string_view name) noexcept;

} // namespace cleat::bench
