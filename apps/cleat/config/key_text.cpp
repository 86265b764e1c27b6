#include "config/key_text.hpp"
#include "config/table.hpp"
#include "config/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cleat::app {
namespace {

constexpr std::array<key_topic, 8> topic_texts{{
    {key_group::addresses, "addresses", "Where connections come from and go to"},
    {key_group::certificates, "certificates", "Certificates"},
    {key_group::tls, "tls", "TLS"},
    {key_group::upstream_facts, "announce", "How the client is announced to the backend"},
    {key_group::load, "load", "Load and deadlines"},
    {key_group::process, "process", "Process"},
    {key_group::admin, "admin", "The admin server"},
    {key_group::log, "log", "Log"},
}};

constexpr std::array<program_flag, 12> flag_texts{{
    {"    --config FILE", "Read this file first, then the flags; - is standard input."},
    {"    --compat hitch|stud",
     "The program whose rules hold where the two differ; stud when cleat is started as stud, "
     "else hitch."},
    {"-t, --test",
     "Check the configuration and the certificates, that the frontends' addresses are this "
     "machine's, and that this user could write the pid file and the log; then end. No port is "
     "taken and no file made."},
    {"    --default-config", "Print a configuration file with every default, and end."},
    {"    --reference", "Print the reference of all keys in Markdown, and end."},
    {"    --metrics-reference", "Print the reference of all metrics in Markdown, and end."},
    {"    --manual", "Print the manual page cleat(1), and end."},
    {"    --config-manual", "Print the manual page cleat.conf(5), and end."},
    {"    --completion bash|zsh", "Print the completion for this shell, and end."},
    {"-V, --version", "Print the version and what the TLS library can do, and end."},
    {"-h, --help [TOPIC]",
     "Print an overview, and end; with a topic, a command or a key the help about it; with all "
     "the help about every key."},
    {"PEM...", "The same as --pem-file for each."},
}};

constexpr std::array<shown_command, 5> command_texts{{
    {"check", "report on the configuration and every certificate"},
    {"explain", "what a client would get, and why"},
    {"reload", "make a running cleat read its configuration and files again"},
    {"health", "ask the admin server of a running cleat whether it works"},
    {"ticket-secret", "make a secret for session tickets"},
}};

constexpr std::array<std::string_view, 8> rule_texts{{
    R"(On is `on`, `yes`, `y`, `true`, `t` or `1`; off is `off`, `no`, `n`, `false`, `f` or `0`.)",
    R"(An empty text, `""`, means that the key is not set.)",
    R"(Inside quotes, `\"` is a quote; any other backslash is itself.)",
    R"(A `;` between two settings is allowed, and so is a comma after a value.)",
    R"(A key that is set twice in one place keeps the last value, with a warning.)",
    R"(All errors of a file's text are reported, each with line, column and cure, then warnings.)",
    R"(Certificates are read, and settings compared, once every value of a file can be read.)",
    R"(A file that is missing is named along with the values that cannot be read.)",
}};

} // namespace

std::string_view syntax_introduction() noexcept
{
    return "A file is read with `--config FILE`. Its language is hitch's: `key = value`, one after "
           "the other.\n"
           "Flags on the command line come after the file: they replace its values, and add to "
           "what "
           "can be given\n"
           "several times.";
}

std::string_view syntax_example() noexcept
{
    return R"(# A comment reaches to the end of its line.
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
)";
}

std::span<std::string_view const> syntax_rules() noexcept
{
    return rule_texts;
}

std::span<shown_command const> shown_commands() noexcept
{
    return command_texts;
}

std::span<key_topic const> key_topics() noexcept
{
    return topic_texts;
}

std::span<program_flag const> shown_flags() noexcept
{
    return flag_texts;
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

std::string places_text(key_row const& row, std::string_view quote)
{
    std::vector<std::string> names;
    if (row.where.global)
        names.emplace_back("global");
    if (row.where.frontend)
        names.push_back(fmt::format("{0}frontend{0} block", quote));
    if (row.where.pem_file)
        names.push_back(fmt::format("{0}pem-file{0} block", quote));
    if (row.where.upstream)
        names.push_back(fmt::format("{0}upstream{0} block", quote));
    if (row.where.server)
        names.push_back(fmt::format("{0}server{0} block", quote));
    if (row.where.route)
        names.push_back(fmt::format("{0}route{0} block", quote));
    if (row.where.allow)
        names.push_back(fmt::format("{0}client-allow{0} block", quote));
    if (!row.where.global && row.where.flag)
        names.emplace_back("command line only");
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string_view status_text(key_status status)
{
    switch (status) {
    case key_status::supported:
        return "";
    case key_status::no_effect:
        return "accepted with a warning: it has no effect";
    }
    return "";
}

bool is_prose(key_row const& row)
{
    std::string const text = default_of(row);
    return text == "none" || (text.find(' ') != std::string::npos && row.show == nullptr);
}

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

} // namespace cleat::app
