// utf8: names as text. A name of a thread, a program, a file or a function may have any bytes, and
// may be cut within a character. All outputs are UTF-8.

#pragma once

#include <string>
#include <string_view>

namespace cleat::locks {

/// in_utf8 gives a name with U+FFFD in the place of each byte that is no UTF-8.
[[nodiscard]] std::string in_utf8(std::string_view bytes);

} // namespace cleat::locks
