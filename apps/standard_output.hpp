// standard_output: a program checks, before it ends, that all its output was written. A full disk
// may be noticed only when the last of the buffer is written; exit code 0 would be wrong then.

#pragma once

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace cleat {

/// flush_standard_output writes the rest of the buffer. Throws std::runtime_error when that, or
/// anything before it, could not be written.
inline void flush_standard_output()
{
    if (std::fflush(stdout) != 0)
        throw std::system_error{errno, std::generic_category(), "standard output"};
    // An earlier error has left this mark, but no errno.
    if (std::ferror(stdout) != 0)
        throw std::runtime_error{"standard output: not all of it could be written"};
}

} // namespace cleat
