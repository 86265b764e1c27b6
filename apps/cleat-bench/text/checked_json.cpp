#include "text/checked_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cleat::bench::checked {

json::value const* find(json::value const& document, std::string_view key)
{
    json::object const* const members = document.if_object();
    json::value const* const found = members == nullptr ? nullptr : members->if_contains(key);
    return found == nullptr || found->is_null() ? nullptr : found;
}

json::value const& member(json::value const& document, std::string_view key)
{
    json::value const* const found = find(document, key);
    if (found == nullptr)
        throw std::runtime_error{fmt::format("'{}' is missing", key)};
    return *found;
}

[[noreturn]] void refuse(std::string_view key, std::string_view wanted)
{
    throw std::runtime_error{fmt::format("'{}' is not {}", key, wanted)};
}

json::string const& text(json::value const& document, std::string_view key)
{
    json::string const* const found = member(document, key).if_string();
    if (found == nullptr)
        refuse(key, "a text");
    return *found;
}

json::array const& list(json::value const& document, std::string_view key)
{
    json::array const* const found = member(document, key).if_array();
    if (found == nullptr)
        refuse(key, "a list");
    return *found;
}

bool flag(json::value const& document, std::string_view key)
{
    json::value const& found = member(document, key);
    if (!found.is_bool())
        refuse(key, "true or false");
    return found.as_bool();
}

double number(json::value const& document, std::string_view key)
{
    json::value const& found = member(document, key);
    if (!found.is_number())
        refuse(key, "a number");
    return found.to_number<double>();
}

json::value number_or_null(json::value const& document, std::string_view key)
{
    return find(document, key) == nullptr ? json::value(nullptr)
                                          : json::value(number(document, key));
}

json::value text_or_null(json::value const& document, std::string_view key)
{
    return find(document, key) == nullptr ? json::value(nullptr) : json::value(text(document, key));
}

json::array texts(json::value const& document, std::string_view key)
{
    for (json::value const& each : list(document, key))
        if (!each.is_string())
            refuse(key, "a list of texts");
    return list(document, key);
}

json::array numbers(json::value const& document, std::string_view key)
{
    for (json::value const& each : list(document, key))
        if (!each.is_number())
            refuse(key, "a list of numbers");
    return list(document, key);
}

json::array facts(json::value const& document, std::string_view key)
{
    for (json::value const& each : list(document, key)) {
        json::array const* const pair = each.if_array();
        if (pair == nullptr || pair->size() != 2 ||
            !std::ranges::all_of(*pair, [](json::value const& one) { return one.is_string(); }))
            refuse(key, "a list of pairs of texts");
    }
    return list(document, key);
}

} // namespace cleat::bench::checked
