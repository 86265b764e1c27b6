#include <cleat/core/control_group.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstddef>

namespace cleat {
namespace {

// Of a list with commas.
bool has_controller(std::string_view list, std::string_view name)
{
    while (!list.empty()) {
        std::string_view const first = list.substr(0, list.find(','));
        if (first == name)
            return true;
        list.remove_prefix(std::min(list.size(), first.size() + 1));
    }
    return false;
}

bool leaves_mount(std::string const& group)
{
    return ('/' + group + '/').find("/../") != std::string::npos;
}

} // namespace

std::optional<std::string> control_group_of(
    std::string_view text, bool is_version_2, std::string_view controller)
{
    // ID:CONTROLLERS:PATH; version 2 is 0 and has no controllers there.
    while (!text.empty()) {
        std::string_view const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        std::size_t const first = line.find(':');
        std::size_t const second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos)
            continue;
        std::string_view const controllers = line.substr(first + 1, second - first - 1);
        if (is_version_2 ? line.starts_with("0::") : has_controller(controllers, controller))
            return std::string{line.substr(second + 1)};
    }
    return std::nullopt;
}

// Strings, because the `/` of libstdc++'s paths frees memory twice where an allocation in it fails,
// and a reload must outlive that.
std::vector<std::string> control_group_folders(
    std::string_view mount, std::string_view text, bool is_version_2, std::string_view controller)
{
    std::string group = control_group_of(text, is_version_2, controller).value_or("/");
    if (group == "/" || leaves_mount(group))
        group.clear();
    else if (!group.starts_with('/'))
        group.insert(0, 1, '/');
    std::vector<std::string> folders;
    for (int depth = 0; depth != limits::cgroup_depth_max; ++depth) {
        folders.push_back(std::string{mount} + group);
        if (group.empty())
            break;
        group.resize(group.rfind('/'));
    }
    return folders;
}

} // namespace cleat
