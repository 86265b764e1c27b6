// words: a command line in one text, cut into its words, and words put together for a shell.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// split_words cuts a command at its blanks. Quotes, single or double, hold a word with blanks
/// together; there are no other escapes. Throws std::runtime_error for a quote without an end.
[[nodiscard]] std::vector<std::string> split_words(std::string_view command);

/// shell_quoted is a text as one word for a shell, in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view text);

} // namespace cleat::bench
