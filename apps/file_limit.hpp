// file_limit: how many files a program may have open. A connection is one or two.

#pragma once

#include <cstddef>

#include <sys/resource.h>

namespace cleat {

/// raise_file_limit takes all the open files that the hard limit allows, and says how many.
inline std::size_t raise_file_limit() noexcept
{
    constexpr std::size_t usual = 1024; // Where the kernel does not say.
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
        return usual;
    files.rlim_cur = files.rlim_max;
    // Without it there are fewer connections.
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
    return files.rlim_cur;
}

} // namespace cleat
