// lexer: the words of a configuration file, each with its place.

#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// config_problems_max is about two pages of a terminal: a file with more errors is no
/// configuration.
inline constexpr std::size_t config_problems_max = 100;

/// token is one word of a configuration file.
struct token
{
    enum class kind
    {
        word,
        string,
        equals,
        open,
        close,
        end
    };

    kind what = kind::end;
    std::string text; ///< A string's without its quotes.
    unsigned line = 1;
    unsigned column = 1;
};

/// lex splits a file into tokens; the last one is always of kind `end`. Characters that are no
/// token are left out and reported in `problems`, with `name` for the file's name. After a line
/// with the hundredth of them the rest of the file is left out.
[[nodiscard]] std::vector<token> lex(
    std::string_view text, std::string_view name, std::vector<problem>& problems);

} // namespace cleat::app
