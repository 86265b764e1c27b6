// recordable: whether a program can be recorded, by its file.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace cleat::locks {

/// surroundings is what a process has from its parent and may keep the recorder out of it.
struct surroundings
{
    std::string asan_options;                 ///< The variable ASAN_OPTIONS.
    std::uint64_t file_size_max = UINT64_MAX; ///< The limit of a file's size, in bytes.
};

/// own_surroundings are those of this process, which its children inherit.
[[nodiscard]] surroundings own_surroundings();

/// parse_surroundings reads those of a process from the text of its /proc/PID/environ and
/// /proc/PID/limits.
[[nodiscard]] surroundings parse_surroundings(
    std::string_view environment, std::string_view limits);

/// why_not_recorded says why a program cannot be recorded, as far as its file and its surroundings
/// show; empty: no reason is known.
[[nodiscard]] std::string why_not_recorded(
    std::filesystem::path const& program, surroundings const& around);

} // namespace cleat::locks
