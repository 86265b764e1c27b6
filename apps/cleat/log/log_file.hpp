// log_file: opens the file that log lines are appended to.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

namespace cleat::app {

/// log_file is the open file.
struct log_file
{
    unique_fd fd{};
    bool is_new = false; ///< It did not exist before.
    error_code error{};  ///< Set where there is no fd.
};

/// open_log_file opens a file in a folder (AT_FDCWD: relative to the working folder) for appending,
/// and makes it (mode 0640) when it is not there. It follows no symbolic link at the end of the
/// path (too_many_symbolic_link_levels), and refuses a file with a second name (too_many_links).
[[nodiscard]] log_file open_log_file(int folder, char const* path) noexcept;

} // namespace cleat::app
