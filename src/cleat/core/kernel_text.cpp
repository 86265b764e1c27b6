#include <cleat/core/kernel_text.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>

#include <array>
#include <cerrno>
#include <cstddef>

#include <fcntl.h>
#include <unistd.h>

namespace cleat {

std::optional<std::string> read_kernel_file(std::filesystem::path const& path)
{
    unique_fd const fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!fd)
        return std::nullopt;
    std::string text;
    std::array<char, 4096> chunk; // NOLINT: filled by read
    for (;;) {
        ssize_t const n = ::read(fd.get(), chunk.data(), chunk.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || text.size() + static_cast<std::size_t>(n) > limits::sysfs_file_max)
            return std::nullopt;
        if (n == 0)
            return text;
        text.append(chunk.data(), static_cast<std::size_t>(n));
    }
}

std::string_view trimmed(std::string_view text) noexcept
{
    std::string_view const space = " \t\r\n";
    std::size_t const first = text.find_first_not_of(space);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

} // namespace cleat
