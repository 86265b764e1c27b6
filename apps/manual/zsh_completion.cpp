#include "manual/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cleat::manual {
namespace {

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

// The last part of a specification. A blank alone offers nothing; one before a function lets zsh
// call it with these words only.
std::string action_of(option const& about, std::string_view function)
{
    std::string const words = fmt::format("{}", fmt::join(about.choices, " "));
    if (about.source == value_source::programs)
        return "_command_names -e";
    if (about.source == value_source::files)
        return words.empty() ? "_files" : fmt::format(" {}_or_file {}", function, words);
    return words.empty() ? " " : fmt::format("({})", words);
}

std::string flag_lines(option const& about, std::string_view function)
{
    std::string out;
    for (std::string const& name : about.names) {
        std::string gap;
        std::string value;
        if (!about.value.empty()) {
            gap = name.starts_with("--") ? "=" : "";
            value = fmt::format(":{}:{}", zsh_text(about.value), action_of(about, function));
        } else if (!about.choices.empty() && name.starts_with("--")) {
            gap = "=-";
            value = fmt::format("::value:{}", action_of(about, function));
        }
        out += fmt::format(
            "                '*{}{}[{}]{}' \\\n", name, gap, first_sentence(about.help), value);
    }
    return out;
}

std::string arguments_of(completed_command const& about, std::string_view function)
{
    std::string out = "            _arguments \\\n";
    for (option const& each : about.flags)
        out += flag_lines(each, function);
    std::size_t place = 0;
    for (option const& each : about.places) {
        std::string const number = each.is_repeated ? "*" : std::to_string(++place);
        out += fmt::format(
            "                '{}:{}:{}' \\\n", number, zsh_text(each.names.front()),
            action_of(each, function));
        if (each.is_repeated)
            break;
    }
    out.resize(out.size() - std::string_view{" \\\n"}.size());
    return out + "\n            ;;\n";
}

} // namespace

std::string to_zsh(page const& about)
{
    std::string const function = function_name(about.name);
    std::vector<completed_command> const all = completed_commands(about);
    std::string commands;
    std::string cases;
    for (std::size_t each = 1; each < all.size(); ++each) {
        commands +=
            fmt::format("        '{}:{}'\n", all[each].name, first_sentence(all[each].summary));
        cases += fmt::format(
            "        {})\n            shift words\n            ((CURRENT -= 1))\n{}",
            all[each].name, arguments_of(all[each], function));
    }
    return fmt::format(
        "#compdef {0}\n"
        "# Completion of {0} for zsh. Made from its table of options.\n"
        "{1}_or_file() {{\n"
        "    _alternative \"words:word:($*)\" 'files:file:_files'\n"
        "}}\n"
        "{1}() {{\n"
        "    local -a commands\n"
        "    commands=(\n"
        "{2}"
        "    )\n"
        "    local command=\n"
        "    if ((CURRENT > 2)); then\n"
        "        command=$words[2]\n"
        "    elif [[ $words[CURRENT] != -* ]]; then\n"
        "        _describe command commands\n"
        "    fi\n"
        "    case $command in\n"
        "{3}"
        "        *)\n"
        "{4}"
        "    esac\n"
        "}}\n"
        "{1} \"$@\"\n",
        about.name, function, commands, cases, arguments_of(all.front(), function));
}

} // namespace cleat::manual
