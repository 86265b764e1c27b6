#include <cleat/core/control_group.hpp>
#include <cleat/core/cpu_limit.hpp>
#include <cleat/core/kernel_text.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleat {
namespace {

namespace fs = std::filesystem;

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
std::optional<cpu_limit> limit_of_version_2(fs::path const& group)
{
    std::optional<std::string> const text = read_kernel_file(group / "cpu.max");
    if (!text)
        return std::nullopt;
    std::string_view const line = trimmed(*text);
    std::size_t const space = line.find(' ');
    if (space == std::string_view::npos)
        return std::nullopt;
    return limit_of(line.substr(0, space), line.substr(space + 1));
}

std::optional<cpu_limit> limit_of_version_1(fs::path const& group)
{
    std::optional<std::string> const quota = read_kernel_file(group / "cpu.cfs_quota_us");
    std::optional<std::string> const period = read_kernel_file(group / "cpu.cfs_period_us");
    return quota && period ? limit_of(*quota, *period) : std::nullopt;
}

// Seen from another cgroup namespace the path may leave the mount with "..": then we can read only
// the mount's own limit.
fs::path own_group(std::string_view lines, bool is_version_2)
{
    std::optional<std::string> const path = control_group_of(lines, is_version_2);
    if (!path)
        return {};
    fs::path const group = fs::path{*path}.relative_path();
    return std::find(group.begin(), group.end(), "..") == group.end() ? group : fs::path{};
}

// Every level above limits as well.
std::optional<cpu_limit> smallest_limit(
    fs::path const& mount, fs::path group, std::optional<cpu_limit> (*limit_at)(fs::path const&))
{
    std::optional<cpu_limit> smallest;
    for (int depth = 0; depth != limits::cgroup_depth_max; ++depth) {
        std::optional<cpu_limit> const level = limit_at(mount / group);
        if (level && (!smallest || level->cpus < smallest->cpus))
            smallest = level;
        if (group.empty())
            break;
        group = group.parent_path();
    }
    return smallest;
}

} // namespace

std::optional<cpu_limit> read_cpu_limit(control_group_files const& files)
{
    std::string const lines = read_kernel_file(files.own).value_or("");
    std::optional<cpu_limit> const limit =
        smallest_limit(files.version_2, own_group(lines, true), limit_of_version_2);
    // The controller belongs to one of the versions.
    return limit ? limit
                 : smallest_limit(files.version_1, own_group(lines, false), limit_of_version_1);
}

} // namespace cleat
