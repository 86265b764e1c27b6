// json_text: pieces of a JSON text (RFC 8259).

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// json_string is a text in quotes. A byte that is no UTF-8, as a file's name may have it, becomes
/// U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// json_strings is an array of them.
[[nodiscard]] std::string json_strings(std::span<std::string const> texts);

/// array_json has what `make` gives for each element; an empty text is left out.
template <class Range, class Make>
[[nodiscard]] std::string array_json(Range const& range, Make make)
{
    std::string text = "[";
    for (auto const& each : range) {
        std::string const made = make(each);
        if (!made.empty())
            text.append(text.size() == 1 ? "" : ", ").append(made);
    }
    return text + "]";
}

/// json_object has a text for each member: a pair of name and value.
template <class Members>
[[nodiscard]] std::string json_object(Members const& members)
{
    std::string text = "{";
    for (auto const& [name, value] : members) {
        text += text.size() == 1 ? "" : ", ";
        text += json_string(name) + ": " + json_string(value);
    }
    return text + "}";
}

/// json_bool is true or false.
[[nodiscard]] constexpr std::string_view json_bool(bool value) noexcept
{
    return value ? "true" : "false";
}

} // namespace cleat::app
