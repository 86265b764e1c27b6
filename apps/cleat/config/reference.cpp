#include "config/reference.hpp"
#include "config/table.hpp"
#include "config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace cleat::app {
namespace {

constexpr std::size_t help_width = 96;
constexpr std::size_t help_indent = 30;

struct heading
{
    key_group group;
    std::string_view title;
};

constexpr std::array<heading, 8> headings{{
    {key_group::addresses, "Where connections come from and go to"},
    {key_group::certificates, "Certificates"},
    {key_group::tls, "TLS"},
    {key_group::upstream_facts, "How the client is announced to the backend"},
    {key_group::load, "Load and deadlines"},
    {key_group::process, "Process"},
    {key_group::admin, "The admin server"},
    {key_group::log, "Log"},
}};

struct program_flag
{
    std::string_view flag;
    std::string_view help;
};

// Flags that are no keys: they say what to do, not how to serve. command_line.cpp obeys them.
constexpr std::array<program_flag, 9> shown_flags{{
    {"    --config FILE", "Read this file first, then the flags; - is standard input."},
    {"    --compat hitch|stud",
     "Whose habits count where the two disagree; stud when the program is started as stud, else "
     "hitch."},
    {"-t, --test",
     "Check the configuration and the certificates, that the frontends' addresses are this "
     "machine's, and that this user could write the pid file and the log; then end. No port is "
     "taken and no file made."},
    {"    --default-config", "Print a configuration file with every default, and end."},
    {"    --reference", "Print the reference of all keys in Markdown, and end."},
    {"    --metrics-reference", "Print the reference of all metrics in Markdown, and end."},
    {"-V, --version", "Print the version and what the TLS library can do, and end."},
    {"-h, --help", "Print this, and end."},
    {"PEM...", "The same as --pem-file for each."},
}};

// Appends `text` in lines of at most `width` columns, each behind `indent`; the first goes on where
// `out` is.
void wrap(std::string& out, std::string_view text, std::string_view indent, std::size_t width)
{
    std::size_t column = out.size() - std::min(out.rfind('\n') + 1, out.size());
    bool first = true;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find(' '), text.size());
        std::string_view const word = text.substr(0, end);
        if (!first && column + 1 + word.size() > width) {
            out += '\n';
            out += indent;
            column = indent.size();
            first = true;
        }
        if (!first) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        first = false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    out += '\n';
}

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

std::string_view status_text(key_status status)
{
    switch (status) {
    case key_status::supported:
        return "";
    case key_status::unsupported:
        return "not built yet: an error, unless the value asks for nothing";
    case key_status::no_effect:
        return "accepted with a warning: it has no effect";
    }
    return "";
}

std::string places_text(key_row const& row)
{
    std::vector<std::string> names;
    if (row.where.global)
        names.emplace_back("global");
    if (row.where.frontend)
        names.emplace_back("`frontend` block");
    if (row.where.pem_file)
        names.emplace_back("`pem-file` block");
    if (!row.where.global && row.where.flag)
        names.emplace_back("command line only");
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string value_text(key_row const& row)
{
    std::string text = row.kind == value_kind::boolean ? "on|off" : std::string{row.value};
    if (row.block)
        text += " or a block";
    if (std::string const range = range_of(row); !range.empty())
        text += fmt::format(", {}", range);
    return text;
}

std::string flag_names(key_row const& row)
{
    std::string text = row.short_flag.empty() ? "" : fmt::format("`{}`, ", row.short_flag);
    return text + fmt::format("`--{}`", row.name);
}

void add_entry(std::string& out, key_row const& row)
{
    constexpr std::size_t page_width = 100;
    auto const item = [&out](std::string_view label, std::string_view text) {
        if (!text.empty()) {
            out += "- ";
            wrap(out, fmt::format("{}: {}", label, text), "  ", page_width);
        }
    };
    out += fmt::format("### `{}`\n\n", row.name);
    wrap(out, row.help, "", page_width);
    out += '\n';
    item("Value", fmt::format("`{}`", value_text(row)));
    std::string const default_text = default_of(row);
    bool const is_prose = default_text.find(' ') != std::string::npos && row.show == nullptr;
    item(
        "Default",
        is_prose || default_text == "none" ? default_text : fmt::format("`{}`", default_text));
    item("Where", places_text(row));
    if (row.where.flag)
        item("Flag", flag_names(row));
    if (!row.other_names.empty())
        item("Also", fmt::format("`{}`", row.other_names));
    if (row.repeatable)
        item("Repeats", "each one adds to those before it");
    item("Status", status_text(row.status));
    item("Instead", row.cure);
    item("Compared with stud and hitch", row.note);
    out += '\n';
}

constexpr std::string_view page_top = R"(# Configuration

<!-- Made by `cleat --reference` from apps/cleat/config/table.cpp: change it there. -->

A file is read with `--config FILE`. Its language is hitch's: `key = value`, one after the other.
Flags on the command line come after the file: they replace its values, and add to what can be given
several times.

```
# A comment reaches to the end of its line.
frontend = "[*]:443"                # text in double quotes
backend  = [127.0.0.1]:8080         # quotes may go where there are no blanks
workers  = auto
pem-file = "/etc/cleat/default.pem"

frontend = {                        # a block sets what differs for one frontend
    host = "*"
    port = "8443"
    tls-protos = TLSv1.3            # a list of words has no quotes
    pem-file = {
        cert = "/etc/cleat/site.crt"
        private-key = "/etc/cleat/site.key"
    }
}
```

- On is `on`, `yes`, `y`, `true`, `t` or `1`; off is `off`, `no`, `n`, `false`, `f` or `0`.
- An empty text, `""`, means that the key is not set.
- Inside quotes, `\"` is a quote; any other backslash is itself.
- A `;` between two settings is allowed, and so is a comma after a value.
- A key that is set twice in one place keeps the last value, with a warning.
- Every error of a file is reported, not only the first, with line, column and what to do.

)";

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
        "       {0} check [--json] [--all] [OPTIONS] [PEM...]\n"
        "       {0} explain --sni NAME [--alpn P] [--to FRONTEND] [OPTIONS] [PEM...]\n"
        "       {0} reload [PID | --pidfile FILE]\n\n"
        "Takes TLS from clients and passes plaintext on to a backend. Listen on port 443, serve "
        "the\n"
        "certificate of site.pem, and pass everything on to port 8080, with a worker for each "
        "core:\n\n"
        "  {0} -f '[*]:443' -b '[127.0.0.1]:8080' -n auto site.pem\n\n"
        "Each key of the configuration file is a flag with the same name. Flags come after the "
        "file:\n"
        "they replace its values, and add to what can be given several times.\n\n"
        "{0} check reports on the configuration and every certificate. {0} check --help explains "
        "it.\n"
        "{0} explain says what a client would get, and why. {0} explain --help explains it.\n"
        "{0} reload makes a running {0} read its configuration and files again.\n",
        program);

    out += "\nWhat to do\n";
    for (program_flag const& each : shown_flags)
        add_help_line(out, each.flag, each.help);

    for (heading const& part : headings) {
        out += fmt::format("\n{}\n", part.title);
        for (key_row const& row : config_table())
            if (row.group == part.group && row.where.flag && row.status == key_status::supported)
                add_help_line(out, flags_of(row), help_of(row));
    }

    out += "\nNot built yet (an error)\n  ";
    std::string silent;
    std::string unbuilt;
    for (key_row const& row : config_table()) {
        if (row.where.flag && row.status == key_status::unsupported)
            unbuilt += fmt::format("--{} ", row.name);
        if (row.where.flag && row.status == key_status::no_effect)
            silent += fmt::format("--{} ", row.name);
    }
    wrap(out, unbuilt, "  ", help_width);
    out += "\nAccepted from stud and hitch, without effect (a warning)\n  ";
    wrap(out, silent, "  ", help_width);
    return out;
}

std::string reference_markdown()
{
    std::string out{page_top};
    for (heading const& part : headings) {
        out += fmt::format("## {}\n\n", part.title);
        for (key_row const& row : config_table())
            if (row.group == part.group)
                add_entry(out, row);
    }
    out.pop_back(); // the blank line after the last entry
    return out;
}

std::string default_configuration()
{
    constexpr std::size_t file_width = 100;
    std::string out =
        "# Every key of cleat, set to its default. What is commented out is not set: `cleat\n"
        "# --reference` says what happens then.\n";
    for (heading const& part : headings) {
        out += fmt::format("\n# ---- {}\n", part.title);
        for (key_row const& row : config_table()) {
            if (row.group != part.group || !row.where.global || row.status != key_status::supported)
                continue;
            out += "\n# ";
            wrap(out, row.help, "# ", file_width);
            std::string const value = row.show ? row.show(config{}) : "";
            std::string_view const quote = row.kind == value_kind::text ? "\"" : "";
            out += fmt::format(
                "{}{} = {}{}{}\n", value.empty() ? "# " : "", row.name, quote, value, quote);
        }
    }
    return out;
}

} // namespace cleat::app
