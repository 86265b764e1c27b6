#include "text/lists.hpp"

#include <algorithm>

namespace cleat::bench {

std::vector<std::string_view> comma_separated(std::string_view text)
{
    std::vector<std::string_view> found;
    while (!text.empty()) {
        std::size_t const comma = std::min(text.find(','), text.size());
        found.push_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return found;
}

std::string_view trimmed(std::string_view text) noexcept
{
    constexpr char const* blank = " \t\r";
    std::size_t const first = text.find_first_not_of(blank);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

} // namespace cleat::bench
