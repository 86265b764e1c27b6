#include "inspect/json_text.hpp"
#include "system/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace cleat::app {
std::string json_string(std::string_view text)
{
    std::string out = "\"";
    while (!text.empty()) {
        std::size_t const size = utf8_character_size(text);
        char const c = text.front();
        if (size == 0)
            out += "\\ufffd";
        else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else if (c == '"' || c == '\\')
            out += {'\\', c};
        else
            out += text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out + '"';
}

std::string json_strings(std::span<std::string const> texts)
{
    return array_json(texts, json_string);
}

} // namespace cleat::app
