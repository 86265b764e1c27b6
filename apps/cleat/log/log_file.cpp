#include "log/log_file.hpp"

#include <boost/system/errc.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace cleat::app {
namespace {

log_file not_opened(error_code ec) noexcept
{
    return {unique_fd{}, false, ec};
}

} // namespace

// O_CREAT alone would not say whether the file was new.
log_file open_log_file(int folder, char const* path) noexcept
{
    // O_NONBLOCK: a FIFO without a reader must not block.
    constexpr int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    constexpr int tries_max = 10; // A rotation may come in between, but not every time.
    for (int left = tries_max;; --left) {
        if (unique_fd there{::openat(folder, path, flags)}; there) {
            struct stat about
            {
            };
            if (::fstat(there.get(), &about) != 0)
                return not_opened(last_system_error());
            // With a hard link a user could make us write to a file that is not the user's.
            if (S_ISREG(about.st_mode) && about.st_nlink > 1)
                return not_opened(make_error_code(boost::system::errc::too_many_links));
            return {std::move(there), false, {}};
        }
        if (errno != ENOENT)
            return not_opened(last_system_error());
        if (unique_fd made{::openat(folder, path, flags | O_CREAT | O_EXCL, 0640)}; made)
            return {std::move(made), true, {}};
        if (errno != EEXIST || left == 1)
            return not_opened(last_system_error());
    }
}

} // namespace cleat::app
