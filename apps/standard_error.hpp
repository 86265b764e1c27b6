// standard_error: what a program says there. Who closed it, or filled it, wants no other end of the
// program for that: it ends with the code that it would have had.

#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace cleat {

/// complain says text on standard error. What cannot be said is not.
template <typename... Words>
void complain(fmt::format_string<Words...> text, Words&&... words)
{
    std::string const said = fmt::format(text, std::forward<Words>(words)...);
    static_cast<void>(std::fputs(said.c_str(), stderr));
}

} // namespace cleat
