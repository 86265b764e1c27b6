// complaint: what is said on standard error. Who closed it, or filled it, wants no other end of the
// program for that.

#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace cleat::locks {

/// complain says a line with the program's name in front. What cannot be said is not.
template <typename... Words>
void complain(fmt::format_string<Words...> text, Words&&... words)
{
    std::string const said =
        "cleat-locks: " + fmt::format(text, std::forward<Words>(words)...) + "\n";
    static_cast<void>(std::fputs(said.c_str(), stderr));
}

} // namespace cleat::locks
