// cpu_quota: limits a server to a ration of CPU, so that it is the bottleneck, not its client.

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <filesystem>
#include <utility>
#include <vector>

namespace cleat::bench {

/// cpu_quota is a control group whose processes get so much of a core in every 10 ms (cpu.max of
/// version 2, cpu.cfs_quota_us of version 1; cgroups(7)). The destructor moves what it has adopted
/// back and removes the group, so it must outlive the other processes in it.
class cpu_quota
{
public:
    static constexpr double cores_min = 0.1; ///< 1 ms of 10 ms, which is the kernel's least.

    /// Throws std::runtime_error, with the cure, if control groups of CPU are not mounted, or we
    /// may not make one.
    explicit cpu_quota(double cores);
    cpu_quota(cpu_quota&&) = delete;
    ~cpu_quota();

    /// join_file is a descriptor: a process that writes "0" into it is in the group from then on,
    /// with all that it starts.
    [[nodiscard]] int join_file() const noexcept { return processes_.get(); }

    /// adopt moves running processes and their children into the group. Throws std::runtime_error
    /// if one cannot be moved.
    void adopt(std::vector<int> const& pids);

private:
    void release() noexcept;

    std::filesystem::path folder_;
    std::filesystem::path root_; // Of the hierarchy: where it is mounted.
    bool version_2_ = false;
    unique_fd processes_;
    std::vector<std::pair<int, std::filesystem::path>>
        adopted_; // With the list of each's own group.
};

} // namespace cleat::bench
