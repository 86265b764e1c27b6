#include "manual/command_line_page.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace cleat::manual {
namespace {

// "TEXT:{fin,reset}" has the words fin and reset.
std::vector<std::string> choices_in(std::string_view type)
{
    std::size_t const open = type.find('{');
    std::size_t const close = type.find('}');
    std::vector<std::string> words;
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return words;
    std::string_view list = type.substr(open + 1, close - open - 1);
    while (!list.empty()) {
        std::size_t const end = std::min(list.find(','), list.size());
        words.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return words;
}

option described(CLI::Option const& flag)
{
    option made;
    for (std::string const& each : flag.get_snames())
        made.names.push_back("-" + each);
    for (std::string const& each : flag.get_lnames())
        made.names.push_back("--" + each);
    if (made.names.empty())
        made.names.push_back(flag.get_name(true));
    std::string const type = flag.get_type_name();
    made.choices = choices_in(type);
    if (type.starts_with("FILE") || type.starts_with("DIR"))
        made.source = value_source::files;
    else if (type.starts_with("PROGRAM"))
        made.source = value_source::programs;
    made.is_repeated = flag.get_positional() && flag.get_items_expected_max() > 1;
    if (flag.get_items_expected_max() > 0 && !flag.get_positional())
        made.value = type.substr(0, type.find(':'));
    made.help = flag.get_description();
    if (!made.choices.empty())
        made.help += fmt::format(" ({})", fmt::join(made.choices, ", "));
    if (std::string const text = flag.get_default_str(); !text.empty())
        made.help += fmt::format("\nDefault: {}.", text);
    return made;
}

command described(CLI::App const& app, std::string name)
{
    command made{.name = std::move(name), .summary = app.get_description()};
    std::vector<std::string> titles;
    std::map<std::string, std::vector<option>> groups;
    std::string words = "[OPTIONS]";
    for (CLI::Option const* const each :
         app.get_options([](CLI::Option const* o) { return !o->get_group().empty(); })) {
        std::string const& title = each->get_group();
        if (!groups.contains(title))
            titles.push_back(title);
        groups[title].push_back(described(*each));
        if (groups[title].back().is_positional())
            words += " " + groups[title].back().names.front();
    }
    for (std::string const& each : titles)
        made.sections.push_back({each == "Options" ? "" : each, groups[each]});
    made.synopses = {words};
    std::string const footer = app.get_footer();
    if (std::size_t const begin = footer.find("  "); begin != std::string::npos)
        made.examples = footer.substr(begin);
    return made;
}

} // namespace

void add_manual_flags(CLI::App& app)
{
    app.add_flag("--manual")->description("Print the manual page, and exit");
    app.add_option("--completion")
        ->description("Print the completion for this shell, and exit")
        ->check(CLI::IsMember({"bash", "zsh"}));
}

std::vector<command> commands_of(CLI::App const& app)
{
    command program = described(app, "");
    program.summary.clear(); // The page's own says it.
    program.synopses = {"COMMAND [OPTIONS]"};
    std::vector<command> made{std::move(program)};
    for (CLI::App const* const each : app.get_subcommands([](CLI::App const*) { return true; }))
        made.push_back(described(*each, each->get_name()));
    return made;
}

void add_choices(
    std::vector<command>& commands, std::string_view name, std::vector<std::string> const& words)
{
    for (command& one : commands)
        for (section& part : one.sections)
            for (option& each : part.options)
                if (std::ranges::find(each.names, name) != each.names.end())
                    each.choices.insert(each.choices.end(), words.begin(), words.end());
}

std::optional<std::string> asked_text(page const& about, std::span<char const* const> arguments)
{
    std::string words;
    for (char const* const each : arguments.subspan(std::min<std::size_t>(1, arguments.size())))
        words += (words.empty() ? "" : "=") + std::string{each};
    if (words == "--manual")
        return to_roff(about);
    if (words == "--completion=bash")
        return to_bash(about);
    if (words == "--completion=zsh")
        return to_zsh(about);
    return std::nullopt;
}

} // namespace cleat::manual
