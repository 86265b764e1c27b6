// memory_group: the control group that limits our memory, and how much memory is in use.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cleat {

/// memory_group is a control group with a limit of memory. The kernel kills a process of a group
/// that is at its limit and has nothing that can be taken back (cgroups(7)).
struct memory_group
{
    std::filesystem::path folder; ///< Of the group's files.
    bool is_version_2 = false;    ///< Of cgroup v2, which counts socket buffers too.
    std::uint64_t limit = 0;      ///< Bytes.
};

/// memory_group_files has the paths of the kernel's files; a test replaces them by files of its
/// own.
struct memory_group_files
{
    std::filesystem::path version_2 = "/sys/fs/cgroup";        ///< Where cgroup v2 is mounted,
    std::filesystem::path version_1 = "/sys/fs/cgroup/memory"; ///< and v1's controller `memory`.
    std::filesystem::path own = "/proc/self/cgroup";           ///< Which groups we are in.
};

/// find_memory_group is the group with the smallest limit of ours and those above it, of version 1
/// or 2; version 2's memory.high is a limit too. Nothing where there is none, or where the files
/// cannot be read.
[[nodiscard]] std::optional<memory_group> find_memory_group(memory_group_files const& files = {});

/// memory_in_use is how many bytes the group is charged for, without page cache, which the
/// kernel takes back first (inactive_file, active_file). Version 2 has the buffers of sockets in
/// it. Version 1 counts these apart, and only where memory.kmem.tcp.limit_in_bytes was set; they
/// are added then. All processes of the group count. Nothing where the files cannot be read.
[[nodiscard]] std::optional<std::uint64_t> memory_in_use(memory_group const& group);

/// resident_memory is how many bytes of this process are in memory, without the kernel's for it.
[[nodiscard]] std::optional<std::uint64_t> resident_memory(
    std::filesystem::path const& statm = "/proc/self/statm");

} // namespace cleat
