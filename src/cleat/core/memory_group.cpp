#include <cleat/core/control_group.hpp>
#include <cleat/core/kernel_text.hpp>
#include <cleat/core/memory_group.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace cleat {
namespace {

using byte_count = std::optional<std::uint64_t>;

// Version 1 writes the highest multiple of a page for "no limit".
constexpr std::uint64_t no_memory_limit = std::uint64_t{1} << 62;

byte_count number_in(std::string const& file)
{
    std::optional<std::string> const text = read_kernel_file(file);
    return text ? parse_number<std::uint64_t>(trimmed(*text)) : std::nullopt; // Not "max".
}

byte_count memory_limit_of_version_2(std::string const& group)
{
    byte_count const most = number_in(group + "/memory.max");
    byte_count const high = number_in(group + "/memory.high");
    return most && high ? std::min(most, high) : most ? most : high;
}

byte_count memory_limit_of_version_1(std::string const& group)
{
    byte_count const most = number_in(group + "/memory.limit_in_bytes");
    return most && *most < no_memory_limit ? most : std::nullopt;
}

std::optional<memory_group> smallest_group(
    std::vector<std::string> const& groups, bool is_version_2,
    byte_count (*limit_of_group)(std::string const&))
{
    std::optional<memory_group> found;
    for (std::string const& group : groups) {
        byte_count const limit = limit_of_group(group);
        if (limit && (!found || *limit < found->limit))
            found = memory_group{group, is_version_2, *limit};
    }
    return found;
}

// The number of a line "name number"; 0 where there is none.
std::uint64_t field_of(std::string_view text, std::string_view name)
{
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
            return parse_number<std::uint64_t>(trimmed(line.substr(name.size()))).value_or(0);
    }
    return 0;
}

} // namespace

std::optional<memory_group> find_memory_group(memory_group_files const& files)
{
    std::string const lines = read_kernel_file(files.own).value_or("");
    std::optional<memory_group> found = smallest_group(
        control_group_folders(files.version_2.native(), lines, true, "memory"), true,
        memory_limit_of_version_2);
    // The controller belongs to one of the versions.
    return found ? found
                 : smallest_group(
                       control_group_folders(files.version_1.native(), lines, false, "memory"),
                       false, memory_limit_of_version_1);
}

std::optional<std::uint64_t> memory_in_use(memory_group const& group)
{
    bool const is_new = group.is_version_2;
    std::string const folder = group.folder.native() + '/';
    byte_count const charged =
        number_in(folder + (is_new ? "memory.current" : "memory.usage_in_bytes"));
    std::optional<std::string> const fields = read_kernel_file(folder + "memory.stat");
    if (!charged || !fields)
        return std::nullopt;
    // Files that were read twice are "active". The kernel takes these back, too, only later.
    std::uint64_t const cache =
        field_of(*fields, is_new ? "inactive_file" : "total_inactive_file") +
        field_of(*fields, is_new ? "active_file" : "total_active_file");
    std::uint64_t const sockets =
        is_new ? 0 : number_in(folder + "memory.kmem.tcp.usage_in_bytes").value_or(0);
    return *charged - std::min(*charged, cache) + sockets;
}

std::optional<std::uint64_t> resident_memory(std::filesystem::path const& statm)
{
    std::optional<std::string> const text = read_kernel_file(statm);
    if (!text)
        return std::nullopt;
    std::string_view fields = trimmed(*text); // In pages: all, then those in memory.
    fields.remove_prefix(std::min(fields.size(), fields.find(' ')));
    fields = trimmed(fields);
    byte_count const pages = parse_number<std::uint64_t>(fields.substr(0, fields.find(' ')));
    if (!pages)
        return std::nullopt;
    return *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace cleat
