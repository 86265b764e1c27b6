#include "text/words.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace cleat::bench {

std::vector<std::string> split_words(std::string_view command)
{
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (char const c : command) {
        bool const blank = c == ' ' || c == '\t' || c == '\n';
        if (quote == 0 && blank) {
            in_word = false;
            continue;
        }
        if (!std::exchange(in_word, true))
            words.emplace_back();
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        else
            words.back() += c;
    }
    if (quote != 0)
        throw std::runtime_error{fmt::format("a quote {} has no end", quote)};
    return words;
}

std::string shell_quoted(std::string_view text)
{
    std::string found{'\''};
    for (char const c : text)
        found += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
    return found + '\'';
}

} // namespace cleat::bench
