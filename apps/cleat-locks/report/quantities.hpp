// quantities: numbers and names for people.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleat::locks {

/// time_text: "1.23 s", "45.6 us", "0".
[[nodiscard]] std::string time_text(double ns);

/// count_text: "12", "3.4k", "5.6M".
[[nodiscard]] std::string count_text(std::uint64_t count);

/// rate_text: "0.40/s", "905/s", "50.0k/s"; empty for 0.
[[nodiscard]] std::string rate_text(double per_second);

/// percent_text is empty below a twentieth of a percent: zeros in a column would hide the others.
[[nodiscard]] std::string percent_text(double percent);

/// short_name is a C++ function without its arguments and template arguments.
[[nodiscard]] std::string short_name(std::string_view function);

} // namespace cleat::locks
