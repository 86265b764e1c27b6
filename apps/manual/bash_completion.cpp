#include "manual/completions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace cleat::manual {
namespace {

// Offers for a value, as the script has them: words, "/" for files and "!" for programs.
std::string offered_for(option const& about)
{
    std::vector<std::string> words = about.choices;
    if (about.source == value_source::files)
        words.emplace_back("/");
    else if (about.source == value_source::programs)
        words.emplace_back("!");
    return fmt::format("{}", fmt::join(words, " "));
}

template <class Select>
std::string names_of(completed_command const& about, Select select)
{
    std::set<std::string> names;
    for (option const& each : about.flags)
        std::ranges::copy_if(
            each.names, std::inserter(names, names.end()),
            [&](std::string const& name) { return select(each, name); });
    return fmt::format("{}", fmt::join(names, " "));
}

bool is_long(option const&, std::string const& name)
{
    return name.starts_with("--");
}

bool has_value(option const& about, std::string const&)
{
    return !about.value.empty();
}

// Offers for the positional words, one after the other; the last holds for all after it.
std::string places_of(completed_command const& about)
{
    std::string out;
    bool is_repeated = false;
    for (option const& each : about.places) {
        if (is_repeated)
            break;
        out += fmt::format("{}\"{}\"", out.empty() ? "" : " ", offered_for(each));
        is_repeated = each.is_repeated;
    }
    return is_repeated ? out : out + " \"\"";
}

std::string values_of(completed_command const& about)
{
    std::string out;
    for (option const& each : about.flags)
        if (std::string const offered = offered_for(each); !offered.empty())
            out += fmt::format(
                "                {}) values=\"{}\" ;;\n", fmt::join(each.names, "|"), offered);
    return out.empty() ? out : "            case $flag in\n" + out + "            esac\n";
}

std::string case_of(completed_command const& about)
{
    return fmt::format(
        "        {})\n"
        "            flags=\"{}\"\n"
        "            valued=\"{}\"\n"
        "            places=({})\n"
        "{}"
        "            ;;\n",
        about.name.empty() ? "*" : about.name, names_of(about, is_long), names_of(about, has_value),
        places_of(about), values_of(about));
}

// The script behind the table of commands.
constexpr std::string_view rest = R"(    esac
    if [[ " $valued " == *" $flag "* || $joined ]]; then
        offered=$values
    elif [[ $word == -* ]]; then
        offered=$flags
    else
        ((COMP_CWORD < first)) && first=$COMP_CWORD
        for each in "${COMP_WORDS[@]:first:COMP_CWORD-first}"; do
            if [[ $each == "=" ]]; then
                skip=yes
            elif [[ $skip ]]; then
                skip=""
            elif [[ $each != -* ]]; then
                ((++place))
            elif [[ " $valued " == *" $each "* ]]; then
                skip=yes
            fi
        done
        ((place < ${#places[@]})) || ((place = ${#places[@]} - 1))
        offered="${places[place]}"
        if ((COMP_CWORD == 1)); then offered+=" $commands"; fi
    fi
    COMPREPLY=()
    for each in $offered; do
        case $each in
            /)
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
                compopt -o filenames 2> /dev/null
                ;;
            !) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$word") ;;
            "$word"*) COMPREPLY+=("$each") ;;
        esac
    done
}
)";

} // namespace

std::string to_bash(page const& about)
{
    std::vector<completed_command> const all = completed_commands(about);
    std::string cases;
    std::vector<std::string> names;
    for (std::size_t each = 1; each < all.size(); ++each) {
        cases += case_of(all[each]);
        names.push_back(all[each].name);
    }
    std::string program = case_of(all.front());
    program.insert(program.find('\n') + 1, "            first=1\n");
    return fmt::format(
        "# Completion of {0} for bash. Made from its table of options.\n"
        "{1}() {{\n"
        "    local word=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD - 1]}} joined=\n"
        "    # bash splits --flag=value at the equals sign.\n"
        "    if [[ $word == \"=\" ]]; then\n"
        "        word=\"\" joined=yes\n"
        "    elif [[ $flag == \"=\" ]]; then\n"
        "        flag=${{COMP_WORDS[COMP_CWORD - 2]}} joined=yes\n"
        "    fi\n"
        "    local flags=\"\" valued=\"\" values=\"\" offered first=2 place=0 skip=\"\" each\n"
        "    local commands=\"{2}\" places\n"
        "    # In values and places, / stands for files and ! for programs.\n"
        "    case ${{COMP_WORDS[1]}} in\n"
        "{3}{4}{5}"
        "complete -F {1} {0}\n",
        about.name, function_name(about.name), fmt::join(names, " "), cases, program, rest);
}

} // namespace cleat::manual
