// kernel_text: reads the small text files of /sys and /proc. Not a public header.

#pragma once

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace cleat {

/// read_kernel_file is the whole file. Nothing when it cannot be read, or is longer than
/// limits::sysfs_file_max.
[[nodiscard]] std::optional<std::string> read_kernel_file(std::filesystem::path const& path);

/// trimmed is the text without blanks and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// parse_number reads a decimal number that is the whole text.
template <class T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text) noexcept
{
    T value{};
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace cleat
