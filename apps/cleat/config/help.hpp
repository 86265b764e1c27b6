// help: the texts of --help, made from the configuration table.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// help_text is what `--help` prints: the commands, and the keys by topic, on one screen of 80
/// columns.
[[nodiscard]] std::string help_text(std::string_view program);

/// help_on is what `--help WORD` prints, at most 96 columns wide: every flag for "all", the keys of
/// a topic, or one key. nullopt: there is no such word.
[[nodiscard]] std::optional<std::string> help_on(std::string_view program, std::string_view word);

/// help_refusal says that there is no such word, and which one may be meant.
[[nodiscard]] std::string help_refusal(std::string_view program, std::string_view word);

/// usage_text is the short form, for a command line that is empty.
[[nodiscard]] std::string usage_text(std::string_view program);

} // namespace cleat::app
