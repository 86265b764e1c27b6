#include <cleat/core/control_group.hpp>

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

} // namespace

std::optional<std::string> control_group_of(std::string_view text, bool is_version_2)
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
        if (is_version_2 ? line.starts_with("0::") : has_controller(controllers, "cpu"))
            return std::string{line.substr(second + 1)};
    }
    return std::nullopt;
}

} // namespace cleat
