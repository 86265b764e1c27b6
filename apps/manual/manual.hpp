// manual: the manual page of a program and its completions for bash and zsh, made from one
// description of its command line. The programs' own tables make the description.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cleat::manual {

/// value_source is where a shell looks for the values that it offers, beside an option's choices.
enum class value_source
{
    none,
    files, ///< Also folders and sockets.
    programs
};

/// option is a flag, a flag with a value, or a positional word.
struct option
{
    std::vector<std::string> names{}; ///< "-r", "--rate"; without dashes: a positional word.
    std::string value{};              ///< The word behind it: "FILE"; empty: none.
    std::string help{};
    /// Words that the value may be; where there is no value, words behind `--flag=`.
    std::vector<std::string> choices{};
    value_source source = value_source::none;
    bool is_repeated = false; ///< Of a positional word: it is also what comes after it.
    bool is_of_one = false;   ///< Of a flag: a command that is like the program does not have it.

    [[nodiscard]] bool is_positional() const { return !names.front().starts_with('-'); }
};

/// section is a titled part of a command's options. An empty title stands for "Options".
struct section
{
    std::string title{};
    std::vector<option> options{};
};

/// command is the program itself, with an empty name, or one of its subcommands.
struct command
{
    std::string name{};
    std::string summary{};
    std::vector<std::string> synopses{}; ///< Behind the name: "[OPTIONS] [PEM...]".
    std::vector<section> sections{};
    std::string examples{}; ///< Lines as they are; may be empty.
    /// The program's own flags and words are this command's, too. Its text does not repeat them.
    bool is_like_program = false;
};

/// page is the content of a manual page.
struct page
{
    std::string name{};    ///< "cleat", "cleat.conf"
    int number = 1;        ///< Of the manual's section.
    std::string version{}; ///< "cleat 0.1.0"
    std::string summary{}; ///< One line, without a full stop.
    std::vector<std::string> description{};
    std::vector<command> commands{};     ///< The first is the program itself.
    std::string before_options{};        ///< More sections, as roff.
    std::string after_options{};         ///< The same.
    std::vector<std::string> see_also{}; ///< "cleat(1)"
};

/// to_roff is the page in the macros of man(7).
[[nodiscard]] std::string to_roff(page const& about);

/// roff_text is `text` on lines of its own, on which roff sees no request and no escape.
[[nodiscard]] std::string roff_text(std::string_view text);

/// roff_heading is a section's beginning.
[[nodiscard]] std::string roff_heading(std::string_view title);

/// roff_example is `lines` as they are, in a constant-width font, indented.
[[nodiscard]] std::string roff_example(std::string_view lines);

/// roff_option is the entry of an option.
[[nodiscard]] std::string roff_option(option const& about);

/// to_bash and to_zsh are the completions of a program: subcommands, flags, and the words, files
/// and programs that may be values.
[[nodiscard]] std::string to_bash(page const& about);
[[nodiscard]] std::string to_zsh(page const& about);

} // namespace cleat::manual
