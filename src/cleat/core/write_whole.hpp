// write_whole: writes all of some bytes to a file. Not a public header.

#pragma once

#include <cleat/core/error.hpp>

#include <string_view>

namespace cleat {

/// write_whole writes until nothing is left, or write(2) fails. It blocks.
[[nodiscard]] error_code write_whole(int fd, std::string_view bytes) noexcept;

} // namespace cleat
