// cpu_ration: how much of a core a server may use, so that it is the limit and not its client.

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <filesystem>

namespace cleat::bench {

/// cpu_ration is a control group whose processes get a part of one core: so much of every 10 ms
/// (cpu.max of version 2, cpu.cfs_quota_us of version 1; cgroups(7)). It goes with its owner, which
/// outlives the processes.
class cpu_ration
{
public:
    /// Of one core, up to 1. Throws std::runtime_error where the kernel or our rights have no
    /// control group for us.
    explicit cpu_ration(double of_core);
    cpu_ration(cpu_ration&&) = delete;
    ~cpu_ration();

    /// joins is a file: a process that writes "0" into it is rationed from then on, with all that
    /// it starts.
    [[nodiscard]] int joins() const noexcept { return processes_.get(); }

private:
    std::filesystem::path folder_;
    unique_fd processes_;
};

} // namespace cleat::bench
