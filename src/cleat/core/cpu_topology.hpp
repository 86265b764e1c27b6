// cpu_topology: the CPUs that this process may use, which of them share a core, and the CPU for
// each worker.

#pragma once

#include <cleat/core/cpu_limit.hpp>
#include <cleat/core/error.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace cleat {

/// cpu is one logical CPU: what the kernel schedules on.
struct cpu
{
    int number;        ///< The kernel's number.
    int physical_core; ///< The lowest CPU number on the same core: equal for SMT siblings.
    int package;       ///< The socket; 0 where the kernel does not say.
    int numa_node;     ///< 0 where the kernel does not say.

    bool operator==(cpu const&) const = default;
};

/// cpu_topology is the kernel's data on the CPUs that we may use.
struct cpu_topology
{
    std::vector<cpu> cpus;          ///< Allowed and online, by number; never empty when read.
    std::optional<cpu_limit> limit; ///< The control group's quota.

    /// physical_cores is how many cores the CPUs are on.
    [[nodiscard]] std::size_t physical_cores() const;

    /// workers_auto is the default number of workers: one for each CPU, but no more than the
    /// control group's limit, rounded up; at least 1.
    [[nodiscard]] std::size_t workers_auto() const;
};

/// kernel_files has the paths of the kernel's files; a test replaces them by files of its own.
struct kernel_files
{
    /// Where sysfs is mounted, and the files of control groups.
    std::filesystem::path sysfs = "/sys";
    control_group_files control_group;
};

/// read_cpu_topology asks the kernel for this thread's affinity, and reads the rest from files. It
/// fails only where the affinity cannot be read. A file that is missing or makes no sense leaves
/// the default, and a CPU whose siblings are unknown counts as a core of its own.
[[nodiscard]] result<cpu_topology> read_cpu_topology(kernel_files const& files = {});

/// read_cpu_topology of the given CPUs. Offline ones are left out, unless that leaves none.
[[nodiscard]] cpu_topology read_cpu_topology(std::vector<int> allowed, kernel_files const& files);

/// order_for_workers is the CPU for each of n workers: first one CPU of every physical core, then
/// their siblings, then from the start again. In each round a NUMA node is filled before the next.
[[nodiscard]] std::vector<int> order_for_workers(cpu_topology const& topology, std::size_t n);

/// parse_cpu_list reads the kernel's notation, "0-3,8", in ascending order without duplicates.
/// Nothing when it is not a list, or has a number of limits::cpus_max or more. An empty text is an
/// empty list.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

/// allowed_cpus is this thread's affinity, in ascending order.
[[nodiscard]] result<std::vector<int>> allowed_cpus();

/// pin_this_thread lets the calling thread run on that CPU only. invalid_argument when it does not
/// exist or is not allowed.
[[nodiscard]] error_code pin_this_thread(int cpu_number) noexcept;

} // namespace cleat
