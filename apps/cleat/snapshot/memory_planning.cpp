#include "memory/memory_level.hpp"
#include "snapshot/memory_planning.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/memory_group.hpp>

#include <fmt/format.h>

namespace cleat::app {
namespace {

constexpr std::uint64_t mib = 1 << 20;

constexpr char const* max_memory_key = "max-memory";

// Room for some connections, so that a start which is no error serves them.
constexpr std::uint64_t memory_room_min = 16 * mib;

std::uint64_t in_mib(std::uint64_t bytes) noexcept
{
    return (bytes + mib - 1) / mib;
}

} // namespace

std::uint64_t plan_memory(config const& settings, problem_list& problems)
{
    setting<memory_bound> const& bound = settings.max_memory;
    if (!bound->is_on())
        return 0;
    if (!settings.chroot->empty())
        problems.error(
            bound.location, max_memory_key,
            "the chroot hides the files of /proc and /sys that say how much "
            "memory is in use",
            "Leave chroot out: the sandbox keeps more away.");
    std::optional<memory_group> const group = find_memory_group();
    if (!bound->is_auto) {
        if (group && bound->bytes > group->limit)
            problems.error(
                bound.location, max_memory_key,
                fmt::format(
                    "this is more than the {} MiB that the control group {} allows",
                    group->limit / mib, group->folder.string()),
                "Write auto or less, or raise the limit of the control group.");
        return bound->bytes;
    }
    if (!group) {
        problems.error(
            bound.location, max_memory_key,
            "this process is in no control group with a limit of memory",
            "Write a size such as 512M, or give the service a limit: MemoryMax= of systemd, "
            "resources.limits.memory of Kubernetes.");
        return 0;
    }
    std::uint64_t const most = group->limit / 100 * limits::memory_auto_percent;
    if (most < limits::memory_bound_min)
        problems.error(
            bound.location, max_memory_key,
            fmt::format(
                "{} percent of the {} MiB that the control group {} allows is less than cleat "
                "keeps to, {} MiB",
                limits::memory_auto_percent, group->limit / mib, group->folder.string(),
                limits::memory_bound_min / mib),
            "Raise the limit of the control group to 72 MiB or more.");
    return most;
}

std::optional<problem> memory_shortage(
    setting<memory_bound> const& bound, std::uint64_t most, memory_need needed)
{
    std::uint64_t const tight = memory_levels{most}.part(memory_levels::tight_begins);
    if (most == 0 || needed.bytes + memory_room_min <= tight)
        return {};
    std::uint64_t const least =
        (needed.bytes + memory_room_min) / memory_levels::tight_begins * 100;
    return problem{
        problem::severity::error, bound.location, max_memory_key,
        fmt::format(
            "{} MiB are too few: {} MiB are in use {}", most / mib, in_mib(needed.bytes),
            needed.is_present ? "now, with the connections that are open"
                              : "without any connection, with these certificates"),
        fmt::format(
            "{} {} MiB or more, or lower certificate-cache or workers.",
            bound->is_auto ? "Raise the limit of the control group, so that 90 percent of it are"
                           : "Write",
            in_mib(least) + 1)};
}

} // namespace cleat::app
