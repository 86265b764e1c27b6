// standard_output: what a program has said there is checked before it ends. A full disk may say so
// only when the last of the text leaves the program, and exit code 0 would be a lie then.

#pragma once

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace cleat {

/// flush_standard_output sends what is buffered still. Throws std::runtime_error when that, or
/// anything before it, could not be written.
inline void flush_standard_output()
{
    if (std::fflush(stdout) != 0)
        throw std::system_error{errno, std::generic_category(), "standard output"};
    // What was lost earlier has left its mark, and not its reason.
    if (std::ferror(stdout) != 0)
        throw std::runtime_error{"standard output: not all of it could be written"};
}

} // namespace cleat
