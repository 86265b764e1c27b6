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

} // namespace cleat::bench
