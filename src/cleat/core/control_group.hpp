// control_group: which control group of CPU time a process is in. Not a public header.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleat {

/// control_group_of finds a process's group in the text of /proc/PID/cgroup: of version 1's
/// controller `cpu`, or of version 2. Nothing if there is none. The path begins at the mount.
[[nodiscard]] std::optional<std::string> control_group_of(std::string_view text, bool is_version_2);

} // namespace cleat
