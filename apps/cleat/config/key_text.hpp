// key_text: what the table says about a key in words, for the help, the reference and the manual.

#pragma once

#include "config/key_row.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// key_topic is a heading under which keys are shown.
struct key_topic
{
    key_group group;
    std::string_view name; ///< One word, as --help takes it.
    std::string_view title;
};

/// key_topics are all of them, in their order.
[[nodiscard]] std::span<key_topic const> key_topics() noexcept;

/// program_flag is a flag that is no key: it says what to do, not how to serve.
struct program_flag
{
    std::string_view flag; ///< "-t, --test", "    --config FILE"
    std::string_view help;
};

/// shown_flags are all of them. command_line.cpp obeys them.
[[nodiscard]] std::span<program_flag const> shown_flags() noexcept;

/// shown_command is a word that comes first and does something else than to serve.
struct shown_command
{
    std::string_view name;
    std::string_view help; ///< Not a sentence.
};

/// shown_commands are all of them. command_line.cpp obeys them.
[[nodiscard]] std::span<shown_command const> shown_commands() noexcept;

/// syntax_introduction, syntax_example and syntax_rules are the language of the file, in Markdown.
[[nodiscard]] std::string_view syntax_introduction() noexcept;
[[nodiscard]] std::string_view syntax_example() noexcept;
[[nodiscard]] std::span<std::string_view const> syntax_rules() noexcept;

/// value_text is the value as it is written, with its range: "NUM, 1 to 255".
[[nodiscard]] std::string value_text(key_row const& row);

/// places_text is where a key may stand. `quote` is put around names of blocks.
[[nodiscard]] std::string places_text(key_row const& row, std::string_view quote);

/// status_text is empty for a key that takes effect.
[[nodiscard]] std::string_view status_text(key_status status);

/// is_prose: the default is words about what happens, not a value to write.
[[nodiscard]] bool is_prose(key_row const& row);

/// wrap appends `text` in lines of at most `width` columns, each behind `indent`; the first goes on
/// where `out` is.
void wrap(std::string& out, std::string_view text, std::string_view indent, std::size_t width);

} // namespace cleat::app
