#include "text/fields.hpp"
#include "text/lists.hpp"

#include <algorithm>

#include <strings.h>

namespace cleat::bench {

bool is_same_word(std::string_view one, std::string_view other) noexcept
{
    return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

bool has_word(std::string_view value, std::string_view word) noexcept
{
    while (!value.empty()) {
        std::size_t const comma = std::min(value.find(','), value.size());
        if (is_same_word(trimmed(value.substr(0, comma)), word))
            return true;
        value.remove_prefix(std::min(comma + 1, value.size()));
    }
    return false;
}

bool has_name(std::string_view field, std::string_view name) noexcept
{
    return field.size() > name.size() && field[name.size()] == ':' &&
           is_same_word(field.substr(0, name.size()), name);
}

} // namespace cleat::bench
