#include <cleat/core/write_whole.hpp>

#include <cerrno>
#include <cstddef>

#include <unistd.h>

namespace cleat {

error_code write_whole(int fd, std::string_view bytes) noexcept
{
    while (!bytes.empty()) {
        ssize_t const n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno != EINTR)
            return last_system_error();
        if (n > 0)
            bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
}

} // namespace cleat
