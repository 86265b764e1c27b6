// file_limit: how many files a program may have open. A connection needs one or two.

#pragma once

#include <cstddef>

#include <sys/resource.h>

namespace cleat {

/// raise_file_limit raises the limit of open files to the hard limit, and returns the limit.
inline std::size_t raise_file_limit() noexcept
{
    constexpr std::size_t usual = 1024; // Where the kernel reports none.
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0)
        return usual;
    files.rlim_cur = files.rlim_max;
    // Failing here only means fewer connections.
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
    static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
    return files.rlim_cur;
}

} // namespace cleat
