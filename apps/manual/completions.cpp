#include "manual/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace cleat::manual {
namespace {

// A function of a shell may have no hyphen in its name everywhere.
std::string function_name(std::string_view program)
{
    std::string out = "_" + std::string{program};
    std::ranges::replace(out, '-', '_');
    return out;
}

template <class Use>
void for_each_flag(command const& about, Use use)
{
    for (section const& part : about.sections)
        for (option const& each : part.options)
            if (!each.is_positional())
                use(each);
}

std::string flags_of(command const& about)
{
    std::set<std::string> names;
    for_each_flag(about, [&](option const& each) {
        for (std::string const& name : each.names)
            if (name.starts_with("--"))
                names.insert(name);
    });
    return fmt::format("{}", fmt::join(names, " "));
}

std::string subcommands_of(page const& about)
{
    std::vector<std::string> names;
    for (command const& each : about.commands)
        if (!each.name.empty())
            names.push_back(each.name);
    return fmt::format("{}", fmt::join(names, " "));
}

// Flags with the same choices in all commands; the first command that has the flag decides.
std::string bash_choices(page const& about)
{
    std::string out;
    std::set<std::string> seen;
    for (command const& each : about.commands)
        for_each_flag(each, [&](option const& flag) {
            if (flag.value.empty() || !seen.insert(flag.names.back()).second)
                return;
            out += fmt::format("        {})\n", fmt::join(flag.names, "|"));
            if (flag.choices.empty())
                out += "            COMPREPLY=($(compgen -f -- \"$word\"))\n";
            else
                out += fmt::format(
                    "            COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n",
                    fmt::join(flag.choices, " "));
            out += "            return\n            ;;\n";
        });
    return out;
}

// In zsh's specifications a colon and a bracket end a part, and a quote ends the word.
std::string zsh_text(std::string_view text)
{
    std::string out;
    for (char const c : text) {
        if (c == '\'')
            out += "'\\''";
        else if (c == ':' || c == '[' || c == ']' || c == '\\')
            out += {'\\', c};
        else if (c == '\n')
            out += ' ';
        else
            out += c;
    }
    return out;
}

std::string first_sentence(std::string_view text)
{
    std::string_view const sentence = text.substr(0, text.find(". "));
    return zsh_text(sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence);
}

std::string zsh_values(option const& about)
{
    if (about.value.empty())
        return "";
    std::string const label = zsh_text(about.value);
    if (about.choices.empty())
        return fmt::format(":{}:_files", label);
    return fmt::format(":{}:({})", label, fmt::join(about.choices, " "));
}

std::string zsh_arguments(command const& about)
{
    std::string out;
    for_each_flag(about, [&](option const& each) {
        for (std::string const& name : each.names) {
            std::string const gap = !each.value.empty() && name.starts_with("--") ? "=" : "";
            out += fmt::format(
                "                '*{}{}[{}]{}' \\\n", name, gap, first_sentence(each.help),
                zsh_values(each));
        }
    });
    return out + "                '*:file:_files'\n";
}

} // namespace

std::string to_bash(page const& about)
{
    std::string const function = function_name(about.name);
    std::string cases;
    for (command const& each : about.commands)
        if (!each.name.empty())
            cases += fmt::format("        {}) flags=\"{}\" ;;\n", each.name, flags_of(each));
    command const& program = about.commands.front();
    return fmt::format(
        "# Completion of {0} for bash. Made from its table of options.\n"
        "{1}() {{\n"
        "    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} flags\n"
        "    # bash splits --flag=value at the equals sign.\n"
        "    if [[ $word == \"=\" ]]; then word=\"\"; fi\n"
        "    if [[ $before == \"=\" ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}; fi\n"
        "    COMPREPLY=()\n"
        "    case $before in\n"
        "{2}"
        "    esac\n"
        "    case ${{COMP_WORDS[1]}} in\n"
        "{3}"
        "        *) flags=\"{4}\" ;;\n"
        "    esac\n"
        "    if [[ $word == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "        if ((COMP_CWORD == 1)); then\n"
        "            COMPREPLY+=($(compgen -W \"{5}\" -- \"$word\"))\n"
        "        fi\n"
        "    fi\n"
        "}}\n"
        "complete -o filenames -F {1} {0}\n",
        about.name, function, bash_choices(about), cases, flags_of(program), subcommands_of(about));
}

std::string to_zsh(page const& about)
{
    std::string commands;
    std::string cases;
    for (command const& each : about.commands) {
        if (each.name.empty())
            continue;
        commands += fmt::format("        '{}:{}'\n", each.name, first_sentence(each.summary));
        cases += fmt::format(
            "        {})\n            _arguments \\\n{}            ;;\n", each.name,
            zsh_arguments(each));
    }
    std::string const function = function_name(about.name);
    return fmt::format(
        "#compdef {0}\n"
        "# Completion of {0} for zsh. Made from its table of options.\n"
        "{1}() {{\n"
        "    local -a commands\n"
        "    commands=(\n"
        "{2}"
        "    )\n"
        "    if ((CURRENT == 2)) && [[ $words[CURRENT] != -* ]]; then\n"
        "        _describe command commands\n"
        "    fi\n"
        "    case $words[2] in\n"
        "{3}"
        "        *)\n"
        "            _arguments \\\n"
        "{4}"
        "            ;;\n"
        "    esac\n"
        "}}\n"
        "{1} \"$@\"\n",
        about.name, function, commands, cases, zsh_arguments(about.commands.front()));
}

} // namespace cleat::manual
