// file: whole files: reading, replacing in one step, and noticing that one has changed.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace statsync {

/// read_file: the content of a file; a failure where it cannot be read.
std::string read_file(std::filesystem::path const& path);

/// replace_file writes the content beside the file and renames it over the file: after a crash, or
/// on a full disk, the file is the old or the new one. Owner, mode and extended attributes stay; a
/// new file gets the mode. A link stays one: the file that it points to is replaced.
void replace_file(
    std::filesystem::path const& path, std::string_view content, unsigned new_mode = 0600);

/// may_write: whether this user may write the file, and beside it. Of no file there is no doubt.
bool may_write(std::filesystem::path const& path);

/// file_state: size, time, place and identity of a file, which differ after every change.
struct file_state
{
    std::int64_t size = -1; ///< -1: there is no file, or an empty one.
    std::int64_t modified = 0;
    std::uint64_t inode = 0;

    friend bool operator==(file_state const&, file_state const&) = default;
};

file_state state_of(std::filesystem::path const& path);

/// expanded: the path with ~ and $XDG_CONFIG_HOME, $XDG_DATA_HOME or $XDG_STATE_HOME replaced.
std::filesystem::path expanded(std::string_view path);

} // namespace statsync
