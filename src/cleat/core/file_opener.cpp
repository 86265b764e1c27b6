#include <cleat/core/file_opener.hpp>

#include <cerrno>

#include <fcntl.h>

namespace cleat {

file_opening open_or_ask(std::string const& path, int flags, file_opener const& opener)
{
    int fd = -1;
    do
        fd = ::open(path.c_str(), flags);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0)
        return {unique_fd{fd}};
    error_code const reason = last_system_error();
    return opener && is_denied(reason) ? opener(path) : file_opening{unique_fd{}, reason};
}

} // namespace cleat
