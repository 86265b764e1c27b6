// cpu_limit: how much CPU time our control group lets us use.

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace cleat {

/// cpu_limit is a control group's quota. A group that has used it up does not run until the next
/// period begins (CFS bandwidth control; cgroups(7)).
struct cpu_limit
{
    double cpus;                      ///< CPU time for each unit of time.
    std::chrono::microseconds period; ///< The quota is cpus times this.

    bool operator==(cpu_limit const&) const = default;
};

/// control_group_files has the paths of the kernel's files; a test replaces them by files of its
/// own.
struct control_group_files
{
    std::filesystem::path version_2 = "/sys/fs/cgroup";     ///< Where cgroup v2 is mounted,
    std::filesystem::path version_1 = "/sys/fs/cgroup/cpu"; ///< and v1 with the controller `cpu`.
    std::filesystem::path own = "/proc/self/cgroup";        ///< Which groups we are in.
};

/// read_cpu_limit is the smallest quota of our control group and of those above it, of version 1
/// or 2. Nothing where there is none, or where the files cannot be read.
[[nodiscard]] std::optional<cpu_limit> read_cpu_limit(control_group_files const& files = {});

} // namespace cleat
