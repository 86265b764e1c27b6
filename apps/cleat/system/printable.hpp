// printable: text of a file, a certificate or an argument, for a terminal.

#pragma once

#include <algorithm>
#include <string>

namespace cleat::app {

/// printable replaces each control character by a question mark, because a terminal would obey it.
[[nodiscard]] inline std::string printable(std::string text)
{
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
    return text;
}

} // namespace cleat::app
