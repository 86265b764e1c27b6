// cpu_quota: limits a server to a part of a core, so that it is the bottleneck, not its client.

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <filesystem>

namespace cleat::bench {

/// cpu_quota is a control group whose processes get a part of one core: so much of every 10 ms
/// (cpu.max of version 2, cpu.cfs_quota_us of version 1; cgroups(7)). The destructor removes it, so
/// it must outlive the processes.
class cpu_quota
{
public:
    /// `part_of_core` is at most 1. Throws std::runtime_error if control groups of CPU are not
    /// mounted, or we may not make one.
    explicit cpu_quota(double part_of_core);
    cpu_quota(cpu_quota&&) = delete;
    ~cpu_quota();

    /// join_file is a descriptor: a process that writes "0" into it is in the group from then on,
    /// with all that it starts.
    [[nodiscard]] int join_file() const noexcept { return processes_.get(); }

private:
    std::filesystem::path folder_;
    unique_fd processes_;
};

} // namespace cleat::bench
