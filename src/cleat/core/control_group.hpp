// control_group: which control group a process is in. Not a public header.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat {

/// control_group_of finds a process's group in the text of /proc/PID/cgroup: of this controller of
/// version 1, or of version 2. Nothing if there is none. The path begins at the mount.
[[nodiscard]] std::optional<std::string> control_group_of(
    std::string_view text, bool is_version_2, std::string_view controller = "cpu");

/// control_group_folders are those of a process's group and of the groups above it, which limit it
/// as well: from its own to the mount, limits::cgroup_depth_max at most. Only the mount, where
/// there is no group, and where the path would leave the mount: seen from another cgroup namespace
/// it may begin with "..", and only the mount's own files can be read then. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::string> control_group_folders(
    std::string_view mount, std::string_view text, bool is_version_2,
    std::string_view controller = "cpu");

} // namespace cleat
