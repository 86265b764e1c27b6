#include "command_line/check_command_line.hpp"
#include "command_line/command.hpp"
#include "command_line/explain_command_line.hpp"
#include "command_line/health_command_line.hpp"
#include "command_line/manual_pages.hpp"
#include "command_line/reload_command_line.hpp"
#include "command_line/secret_command_line.hpp"
#include "config/help.hpp"
#include "config/key_text.hpp"
#include "config/table.hpp"
#include "manual/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::app {
namespace {

std::vector<std::string> parts_of(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find(separator), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

bool is_word(std::string_view part)
{
    return part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
           std::string_view::npos;
}

// The values that a shell can offer, from a description of them: "FILE|stdout|off".
void offer(manual::option& made, std::string_view value)
{
    while (!value.empty()) {
        std::size_t const end = std::min(value.find('|'), value.size());
        std::string_view const part = value.substr(0, end);
        value.remove_prefix(std::min(end + 1, value.size()));
        // ADMIN is an address, or the path of a socket.
        for (std::string_view const path : {"FILE", "DIR", "/PATH", "PEM...", "ADMIN"})
            if (part == path)
                made.source = manual::value_source::files;
        if (is_word(part))
            made.choices.emplace_back(part);
    }
}

// "-t, --test" and "--config FILE" with their help.
manual::option option_in_help(std::string_view flags, std::string help)
{
    manual::option made{.help = std::move(help)};
    while (!flags.empty()) {
        std::size_t const end = std::min(flags.find(' '), flags.size());
        std::string word{flags.substr(0, end)};
        flags.remove_prefix(std::min(end + 1, flags.size()));
        if (word.ends_with(','))
            word.pop_back();
        if (word.starts_with('-') || (!word.empty() && made.names.empty()))
            made.names.push_back(std::move(word));
        else if (!word.empty())
            made.value += (made.value.empty() ? "" : " ") + word;
    }
    offer(made, made.is_positional() ? made.names.front() : made.value);
    made.is_repeated = made.is_positional() && made.names.front().ends_with("...");
    return made;
}

// A subcommand from its help text: the usage, paragraphs, and lines "  --flag VALUE  help", of
// which some go on in the next line.
manual::command subcommand(std::string name, std::string_view help)
{
    manual::command made;
    made.name = std::move(name);
    manual::section flags;
    bool is_usage = true;
    std::string const usage = fmt::format("Usage: cleat {} ", made.name);
    for (std::string const& line : parts_of(help, '\n')) {
        std::size_t const begin = line.find_first_not_of(' ');
        if (begin == std::string::npos) {
            is_usage = false;
        } else if (is_usage) {
            if (made.synopses.empty())
                made.synopses.push_back(line.substr(usage.size()));
            else
                made.synopses.back() += " " + line.substr(begin);
        } else if (begin == 0) {
            if (flags.options.empty())
                made.summary += (made.summary.empty() ? "" : "\n") + line;
        } else if (begin == 2) {
            std::size_t const gap = std::min(line.find("  ", begin), line.size());
            std::size_t const text = std::min(line.find_first_not_of(' ', gap), line.size());
            flags.options.push_back(
                option_in_help(line.substr(begin, gap - begin), line.substr(text)));
        } else if (!flags.options.empty()) {
            flags.options.back().help += "\n" + line.substr(begin);
        }
    }
    made.sections.push_back(std::move(flags));
    made.is_like_program =
        !made.synopses.empty() && made.synopses.front().find("[OPTIONS]") != std::string::npos;
    return made;
}

std::string printed_text(command const& made)
{
    return std::get<print_text>(made).text;
}

std::string with_default(key_row const& row)
{
    std::string text{row.help};
    std::string const default_text = default_of(row);
    if (!default_text.empty())
        text += fmt::format("\nDefault: {}.", default_text);
    return text;
}

// So few numbers that a shell offers them.
constexpr std::int64_t few = 5;

manual::option key_option(key_row const& row)
{
    manual::option made;
    if (!row.short_flag.empty())
        made.names.emplace_back(row.short_flag);
    made.names.push_back(fmt::format("--{}", row.name));
    made.value = row.value;
    offer(made, row.kind == value_kind::boolean ? "on|off" : row.value);
    for (std::string const& name : parts_of(row.names, ' '))
        made.choices.push_back(name);
    if (row.kind == value_kind::number && row.highest - row.lowest < few)
        for (std::int64_t number = row.lowest; number <= row.highest; ++number)
            made.choices.push_back(std::to_string(number));
    made.help = with_default(row);
    return made;
}

// The words that --help takes.
std::vector<std::string> help_words()
{
    std::vector<std::string> words{"all", std::string{texts_topic}};
    for (shown_command const& each : shown_commands())
        words.emplace_back(each.name);
    for (key_topic const& each : key_topics())
        words.emplace_back(each.name);
    for (key_row const& each : config_table())
        words.emplace_back(each.name);
    return words;
}

manual::command program()
{
    manual::section actions;
    for (program_flag const& each : shown_flags()) {
        manual::option& made =
            actions.options.emplace_back(option_in_help(each.flag, std::string{each.help}));
        if (made.value == "[TOPIC]")
            made.choices = help_words();
        made.is_of_one = !made.is_positional() && made.names.back() != "--config" &&
                         made.names.back() != "--compat";
    }
    manual::command made;
    made.synopses = {"[OPTIONS] [PEM...]"};
    made.sections.push_back(std::move(actions));
    for (key_topic const& topic : key_topics()) {
        manual::section part{std::string{topic.title}, {}};
        for (key_row const& row : config_table())
            if (row.group == topic.group && row.where.flag && row.status == key_status::supported)
                part.options.push_back(key_option(row));
        made.sections.push_back(std::move(part));
    }
    return made;
}

std::string signals_section()
{
    std::string out = manual::roff_heading("Signals");
    for (auto const& [name, help] : std::array<std::pair<std::string, std::string>, 5>{
             {{"SIGHUP", "Reload, as `cleat reload` does, without waiting."},
              {"SIGTERM",
               "After drain-delay accept no more connections, and end with the last one, "
               "or after shutdown-timeout. A second one begins the next of these steps."},
              {"SIGINT", "End at once."},
              {"SIGUSR1", "Open the log file again, after a rotation."},
              {"SIGUSR2", "Write a line to the log, and nothing else."}}})
        out += manual::roff_option({.names = {name}, .help = help});
    return out;
}

std::string files_and_exit()
{
    return manual::roff_heading("Exit status") +
           manual::roff_text("0 after an orderly end, 1 where a start or a command was refused.") +
           manual::roff_heading("Files") +
           manual::roff_option(
               {.names = {"/etc/cleat/cleat.conf"},
                .help = "What the service of the Debian package reads."});
}

manual::page about_cleat()
{
    std::array<char const*, 1> const words{"--help"};
    return {
        .name = "cleat",
        .number = 1,
        .version = "cleat " CLEAT_VERSION,
        .summary = "TLS terminator that scales with cores",
        .description =
            {"cleat takes TLS from clients and passes plaintext on to a backend. It reads the "
             "configuration language of hitch and stud: see cleat.conf(5).",
             "Each key of the configuration file is a flag with the same name. Flags come after "
             "the file: they replace its values, and add to what can be given several times."},
        .commands =
            {program(), subcommand("check", printed_text(parse_check("cleat", words))),
             subcommand("explain", printed_text(parse_explain("cleat", words))),
             subcommand("reload", printed_text(parse_reload("cleat", words))),
             subcommand("health", printed_text(parse_health("cleat", words))),
             subcommand("ticket-secret", printed_text(parse_ticket_secret("cleat", words)))},
        .after_options = signals_section() + files_and_exit(),
        .see_also = {"cleat.conf(5)", "systemctl(1)"}};
}

std::string configuration_entry(key_row const& row)
{
    std::string help = with_default(row);
    help += fmt::format("\nWhere: {}.", places_text(row, ""));
    if (row.repeatable)
        help += "\nEach one adds to those before it.";
    if (!row.other_names.empty())
        help += fmt::format("\nAlso: {}.", row.other_names);
    if (std::string_view const status = status_text(row.status); !status.empty())
        help += fmt::format("\nStatus: {}. {}", status, row.cure);
    if (!row.note.empty())
        help += fmt::format("\nCompared with stud and hitch: {}", row.note);
    return manual::roff_option(
        {.names = {std::string{row.name}},
         .value = "= " + value_text(row),
         .help = std::move(help)});
}

// Markdown's marks of code mean nothing here.
std::string plain(std::string_view text)
{
    std::string out{text};
    std::erase(out, '`');
    return out;
}

} // namespace

std::string manual_page()
{
    return to_roff(about_cleat());
}

std::string configuration_manual_page()
{
    manual::page about{
        .name = "cleat.conf",
        .number = 5,
        .version = "cleat " CLEAT_VERSION,
        .summary = "configuration file of the TLS terminator cleat",
        .description = {plain(syntax_introduction())},
        .before_options = manual::roff_example(syntax_example()),
        .see_also = {"cleat(1)"}};
    for (std::string_view const rule : syntax_rules())
        about.before_options += ".IP \\(bu 2\n" + manual::roff_text(plain(rule));
    for (key_topic const& topic : key_topics()) {
        about.after_options += manual::roff_heading(topic.title);
        for (key_row const& row : config_table())
            if (row.group == topic.group)
                about.after_options += configuration_entry(row);
    }
    return to_roff(about);
}

std::string bash_completion()
{
    return to_bash(about_cleat());
}

std::string zsh_completion()
{
    return to_zsh(about_cleat());
}

} // namespace cleat::app
