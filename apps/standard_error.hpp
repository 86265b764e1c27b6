// standard_error: messages for standard error. A message that cannot be written, because standard
// error is closed or its disk is full, is dropped: the program's exit code does not change for it.

#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace cleat {

/// complain writes a message to standard error. Errors are ignored.
template <typename... Arguments>
void complain(fmt::format_string<Arguments...> text, Arguments&&... arguments)
{
    std::string const message = fmt::format(text, std::forward<Arguments>(arguments)...);
    static_cast<void>(std::fputs(message.c_str(), stderr));
}

} // namespace cleat
