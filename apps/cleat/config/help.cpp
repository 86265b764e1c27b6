#include "config/help.hpp"
#include "config/key_text.hpp"
#include "config/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace cleat::app {
namespace {

constexpr std::size_t screen_width = 80;
constexpr std::size_t topic_indent = 16;
constexpr std::size_t help_width = 96;
constexpr std::size_t help_indent = 30;

void add_help_line(std::string& out, std::string_view flags, std::string_view help)
{
    std::string const indent(help_indent, ' ');
    out += fmt::format("  {}", flags);
    if (flags.size() + 4 > help_indent)
        out += "\n" + indent;
    else
        out.append(help_indent - flags.size() - 2, ' ');
    wrap(out, help, indent, help_width);
}

std::string flags_of(key_row const& row)
{
    std::string text = row.short_flag.empty() ? "    " : fmt::format("{}, ", row.short_flag);
    text += fmt::format("--{}", row.name);
    if (row.kind == value_kind::boolean)
        text += "[=on|off]";
    else
        text += fmt::format(" {}", row.value);
    return text;
}

bool is_long_list(std::string_view text)
{
    return text.size() > 40;
}

std::string help_of(key_row const& row)
{
    std::string text{row.help};
    std::string const default_text = default_of(row);
    // A default of "none: every pem-file..." is a sentence for the reference; here it would only be
    // noise.
    if (!default_text.empty() && !default_text.starts_with("none") && !is_long_list(default_text))
        text += fmt::format(" Default: {}.", default_text);
    return text;
}

bool is_shown(key_row const& row, key_group group)
{
    return row.group == group && row.where.flag && row.status == key_status::supported;
}

void add_topic(std::string& out, key_topic const& topic)
{
    out += fmt::format("\n{}\n", topic.title);
    for (key_row const& row : config_table())
        if (is_shown(row, topic.group))
            add_help_line(out, flags_of(row), help_of(row));
}

void add_keys_without_effect(std::string& out)
{
    std::string silent;
    for (key_row const& row : config_table()) {
        if (row.where.flag && row.status == key_status::no_effect)
            silent += fmt::format("--{} ", row.name);
    }
    out += "\nAccepted from stud and hitch, without effect (a warning)\n  ";
    wrap(out, silent, "  ", help_width);
}

std::string full_help(std::string_view program)
{
    std::string out = fmt::format(
        "Usage: {0} [OPTIONS] [PEM...]\n"
        "       {0} check [--json] [--all] [OPTIONS] [PEM...]\n"
        "       {0} explain --sni NAME [--alpn P] [--to FRONTEND] [OPTIONS] [PEM...]\n"
        "       {0} reload [PID | --pidfile FILE]\n"
        "       {0} health [--ready] ADMIN\n"
        "       {0} ticket-secret new [--ratchet[=SECS]] [FILE]\n\n"
        "Each key of the configuration file is a flag with the same name. Flags come after the "
        "file:\n"
        "they replace its values, and add to what can be given several times.\n",
        program);
    out += "\nWhat to do\n";
    for (program_flag const& each : shown_flags())
        add_help_line(out, each.flag, each.help);
    for (key_topic const& each : key_topics())
        add_topic(out, each);
    add_keys_without_effect(out);
    return out;
}

std::string help_on_texts()
{
    std::string out = "Flags that print a text\n";
    for (program_flag const& each : shown_flags())
        if (each.help.starts_with("Print"))
            add_help_line(out, each.flag, each.help);
    return out;
}

std::string help_on_key(key_row const& row)
{
    std::string out = row.where.flag ? flags_of(row) : std::string{row.name};
    out.erase(0, out.find_first_not_of(' '));
    out += "\n\n";
    auto const add = [&](std::string_view label, std::string_view text) {
        if (text.empty())
            return;
        out += fmt::format("  {:<9}", label);
        wrap(out, text, std::string(11, ' '), help_width);
    };
    out += "  ";
    wrap(out, row.help, "  ", help_width);
    out += '\n';
    add("value", value_text(row));
    add("default", default_of(row));
    add("where", places_text(row, ""));
    add("also", row.other_names);
    add("status", status_text(row.status));
    add("instead", row.cure);
    add("note", row.note);
    return out;
}

} // namespace

std::string usage_text(std::string_view program)
{
    return fmt::format(
        "Usage: {0} [OPTIONS] [PEM...]\n\n"
        "  {0} -f '[*]:443' -b '[127.0.0.1]:8080' -n auto site.pem\n\n"
        "Give at least one certificate. {0} --help explains the options.\n",
        program);
}

std::string help_text(std::string_view program)
{
    std::string out = fmt::format(
        "Usage: {0} [OPTIONS] [PEM...]\n"
        "       {0} check|explain|reload|health|ticket-secret ...  each has a --help\n\n"
        "Takes TLS from clients and passes plaintext on to a backend. Listen on port 443,\n"
        "with the certificate of site.pem and a worker for each core:\n\n"
        "  {0} -f '[*]:443' -b '[127.0.0.1]:8080' -n auto site.pem\n\n",
        program);
    for (shown_command const& each : shown_commands())
        out += fmt::format("  {:<14}{}\n", each.name, each.help);
    out += "\n  --config FILE read this file first; flags add to it or replace its values\n"
           "  -t, --test    check what a start would need, and end\n"
           "  -V, --version the version, and what the TLS library and the kernel can do\n"
           "  --help TOPIC  the keys of the file, each a flag with the same name, by topic:\n";
    std::string names;
    for (key_topic const& each : key_topics())
        names += fmt::format("{} ", each.name);
    std::string const indent(topic_indent, ' ');
    out += indent;
    wrap(out, names, indent, screen_width);
    out += "  --help KEY    explain one key; --help all explains every key\n"
           "  --help texts  flags that print a text: manual pages, references, completions\n";
    return out;
}

std::optional<std::string> help_on(std::string_view program, std::string_view word)
{
    if (word == "all")
        return full_help(program);
    if (word == texts_topic)
        return help_on_texts();
    for (key_topic const& topic : key_topics())
        if (topic.name == word) {
            std::string out;
            add_topic(out, topic);
            return out.substr(1); // The blank line before its title.
        }
    while (word.starts_with('-'))
        word.remove_prefix(1);
    if (key_row const* const row = find_key(word))
        return help_on_key(*row);
    return std::nullopt;
}

std::string help_refusal(std::string_view program, std::string_view word)
{
    std::vector<std::string_view> words{"all", texts_topic};
    for (shown_command const& each : shown_commands())
        words.push_back(each.name);
    for (key_topic const& topic : key_topics())
        words.push_back(topic.name);
    for (key_row const& row : config_table())
        words.push_back(row.name);
    std::string_view const meant = nearest(word, words);
    return fmt::format(
        "--help {}: error: there is no such topic, command or key. {}\n", word,
        meant.empty() ? fmt::format("{} --help lists them.", program)
                      : fmt::format("Did you mean {}?", meant));
}

} // namespace cleat::app
