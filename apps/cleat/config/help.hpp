// help: the texts of --help, made from the configuration table.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// texts_topic is the word for which help_on tells the flags that print a text.
inline constexpr std::string_view texts_topic = "texts";

/// help_text is what `--help` prints: the commands, and the topics, on one screen of 24 lines and
/// 80 columns.
[[nodiscard]] std::string help_text(std::string_view program);

/// help_on is what `--help WORD` prints, at most 96 columns wide: every flag for "all", the flags
/// of texts_topic, the keys of a topic, or one key. nullopt: there is no such word.
[[nodiscard]] std::optional<std::string> help_on(std::string_view program, std::string_view word);

/// help_refusal says that there is no such word, and which one may be meant.
[[nodiscard]] std::string help_refusal(std::string_view program, std::string_view word);

/// usage_text is the short form, for a command line that is empty.
[[nodiscard]] std::string usage_text(std::string_view program);

} // namespace cleat::app
