#include <cleat/core/control_group.hpp>
#include <cleat/core/cpu_limit.hpp>
#include <cleat/core/kernel_text.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleat {
namespace {

std::optional<cpu_limit> limit_of(std::string_view quota_us, std::string_view period_us)
{
    auto const quota = parse_number<std::int64_t>(trimmed(quota_us));
    auto const period = parse_number<std::int64_t>(trimmed(period_us));
    if (!quota || !period || *quota <= 0 || *period <= 0) // "max", and -1, mean no limit.
        return std::nullopt;
    return cpu_limit{
        static_cast<double>(*quota) / static_cast<double>(*period),
        std::chrono::microseconds{*period}};
}

// cpu.max is "max 100000" or "150000 100000": quota and period.
std::optional<cpu_limit> limit_of_version_2(std::string const& group)
{
    std::optional<std::string> const text = read_kernel_file(group + "/cpu.max");
    if (!text)
        return std::nullopt;
    std::string_view const line = trimmed(*text);
    std::size_t const space = line.find(' ');
    if (space == std::string_view::npos)
        return std::nullopt;
    return limit_of(line.substr(0, space), line.substr(space + 1));
}

std::optional<cpu_limit> limit_of_version_1(std::string const& group)
{
    std::optional<std::string> const quota = read_kernel_file(group + "/cpu.cfs_quota_us");
    std::optional<std::string> const period = read_kernel_file(group + "/cpu.cfs_period_us");
    return quota && period ? limit_of(*quota, *period) : std::nullopt;
}

std::optional<cpu_limit> smallest_limit(
    std::vector<std::string> const& groups,
    std::optional<cpu_limit> (*limit_of_group)(std::string const&))
{
    std::optional<cpu_limit> smallest;
    for (std::string const& group : groups) {
        std::optional<cpu_limit> const level = limit_of_group(group);
        if (level && (!smallest || level->cpus < smallest->cpus))
            smallest = level;
    }
    return smallest;
}

} // namespace

std::optional<cpu_limit> read_cpu_limit(control_group_files const& files)
{
    std::string const lines = read_kernel_file(files.own).value_or("");
    std::optional<cpu_limit> const limit = smallest_limit(
        control_group_folders(files.version_2.native(), lines, true), limit_of_version_2);
    // The controller belongs to one of the versions.
    return limit ? limit
                 : smallest_limit(
                       control_group_folders(files.version_1.native(), lines, false),
                       limit_of_version_1);
}

} // namespace cleat
