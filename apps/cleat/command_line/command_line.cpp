#include "command_line/check_command_line.hpp"
#include "command_line/command_line.hpp"
#include "command_line/explain_command_line.hpp"
#include "command_line/health_command_line.hpp"
#include "command_line/manual_pages.hpp"
#include "command_line/reload_command_line.hpp"
#include "command_line/secret_command_line.hpp"
#include "command_line/start_flags.hpp"
#include "config/help.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

namespace cleat::app {
namespace {

// key_text.cpp has their help.
constexpr std::array<own_flag, 9> program_flags{{
    {"-t,--test", own_flag::kind::flag},
    {"-V,--version", own_flag::kind::instead},
    {"-h,--help", own_flag::kind::instead},
    {"--reference", own_flag::kind::instead},
    {"--metrics-reference", own_flag::kind::instead},
    {"--default-config", own_flag::kind::instead},
    {"--manual", own_flag::kind::instead},
    {"--config-manual", own_flag::kind::instead},
    {"--completion", own_flag::kind::value},
}};

struct command_reader
{
    std::string_view name;
    command (*parse)(std::string_view program, std::span<char const* const> words);
};

constexpr std::array<command_reader, 5> subcommands{{
    {"reload", parse_reload},
    {"health", parse_health},
    {"check", parse_check},
    {"explain", parse_explain},
    {"ticket-secret", parse_ticket_secret},
}};

// The first word may also be a PEM file.
std::optional<command> hint_at_subcommand(char const* word)
{
    if (*word == '-' || std::string_view{word}.find_first_of("./") != std::string_view::npos)
        return {};
    std::array<std::string_view, subcommands.size()> names;
    std::ranges::transform(subcommands, names.begin(), &command_reader::name);
    std::string_view const meant = nearest(word, names);
    if (meant.empty() || ::access(word, F_OK) == 0)
        return {};
    return refused{{mistake(
        word, "there is no such command, and no such file",
        fmt::format("Did you mean {}?", meant))}};
}

std::string_view base_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

// "--help WORD" and "--help=WORD": the text about a topic, a command or a key.
std::optional<command> requested_topic(
    std::string_view program, std::span<char const* const> arguments)
{
    std::string_view const first = arguments[1];
    std::string_view word;
    if (first.starts_with("--help="))
        word = first.substr(first.find('=') + 1);
    else if ((first == "--help" || first == "-h") && arguments.size() > 2)
        word = arguments[2];
    if (word.empty())
        return {};
    for (command_reader const& each : subcommands)
        if (word == each.name) {
            std::array<char const*, 1> const help{"--help"};
            return each.parse(program, help);
        }
    if (std::optional<std::string> text = help_on(program, word))
        return print_text{*std::move(text)};
    if (word.starts_with('-'))
        return {}; // A flag beside --help.
    return print_text{help_refusal(program, word), 1};
}

command completion(std::string_view shell)
{
    if (shell == "bash")
        return print_text{bash_completion()};
    if (shell == "zsh")
        return print_text{zsh_completion()};
    return refused{
        {mistake("--completion", fmt::format("\"{}\" is no shell", shell), "Write bash or zsh.")}};
}

// The text to print, where a flag asks for a text and nothing else.
std::optional<command> requested_text(start_words const& words, std::string_view program)
{
    if (words.has("help"))
        return print_text{help_text(program)};
    if (words.has("version"))
        return show_version{};
    if (words.has("reference"))
        return print_text{reference_markdown()};
    if (words.has("metrics-reference"))
        return show_metrics{};
    if (words.has("default-config"))
        return print_text{default_configuration()};
    if (words.has("manual"))
        return print_text{manual_page()};
    if (words.has("config-manual"))
        return print_text{configuration_manual_page()};
    if (words.has("completion"))
        return completion(words.values("completion").back());
    return {};
}

} // namespace

command parse_command_line(std::span<char const* const> arguments, file_opener const& opener)
{
    std::string const program{arguments.empty() ? "cleat" : base_name(arguments.front())};
    if (arguments.size() < 2)
        return print_text{usage_text(program), 1};
    for (command_reader const& each : subcommands)
        if (arguments[1] == each.name)
            return each.parse(program, arguments.subspan(2));
    if (std::optional<command> hint = hint_at_subcommand(arguments[1]))
        return *std::move(hint);
    if (std::optional<command> topic = requested_topic(program, arguments))
        return *std::move(topic);

    start_words words =
        read_start_words({program, program, program_flags, opener}, arguments.subspan(1));
    if (std::optional<command> text = requested_text(words, program))
        return *std::move(text);
    if (has_errors(words.problems)) {
        bool const is_whole = rest_is_whole(words.problems);
        return refused{std::move(words.problems), std::move(words.settings), is_whole};
    }
    if (words.has("test"))
        return check_only{std::move(words.settings), std::move(words.problems)};
    return serve{
        std::move(words.settings), std::move(words.problems), {arguments.begin(), arguments.end()}};
}

} // namespace cleat::app
