#include "config/check.hpp"
#include "config/command_line.hpp"
#include "config/parser.hpp"
#include "config/reference.hpp"
#include "config/reload_command_line.hpp"
#include "config/table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace cleat::app {
namespace {

// Flags that are no keys. reference.cpp has their help.
struct program_flags
{
    CLI::Option* config;
    CLI::Option* compat;
    CLI::Option* test;
    CLI::Option* version;
    CLI::Option* help;
    CLI::Option* reference;
    CLI::Option* default_config;
};

// The table's rows as flags of CLI11, which splits the words; the table knows what they mean.
class flag_set
{
public:
    flag_set()
    {
        app_.set_help_flag();
        app_.allow_extras(); // unknown flags are reported here, with the nearest one
        own_ = {
            .config = value_flag("--config"),
            .compat = value_flag("--compat"),
            .test = app_.add_flag("-t,--test"),
            .version = app_.add_flag("-V,--version"),
            .help = app_.add_flag("-h,--help"),
            .reference = app_.add_flag("--reference"),
            .default_config = app_.add_flag("--default-config"),
        };
        for (key_row const& row : config_table())
            if (row.where.flag)
                row_of_.emplace(add(row), &row);
        CLI::Option* const files = app_.add_option("PEM");
        files->expected(-1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        row_of_.emplace(files, find_key("pem-file"));
        files_ = files;
    }

    flag_set(flag_set const&) = delete;
    flag_set& operator=(flag_set const&) = delete;

    // Throws CLI::ParseError when a value is missing.
    void split(std::vector<std::string> words)
    {
        std::ranges::reverse(words); // the order that CLI11 wants
        app_.parse(std::move(words));
    }

    program_flags const& own() const { return own_; }

    std::vector<std::string> unknown() const { return app_.remaining(); }

    // Calls use(row, location's name, text) for each key, in the order of the command line.
    template <class Use>
    void for_each_key(Use use) const
    {
        std::map<CLI::Option const*, std::size_t> used;
        for (CLI::Option const* option : app_.parse_order()) {
            auto const found = row_of_.find(option);
            if (found == row_of_.end())
                continue;
            std::string const& text = option->results().at(used[option]++);
            use(*found->second,
                option == files_ ? "command line" : "--" + std::string{found->second->name}, text);
        }
    }

    // Every long flag, to find the nearest one to an unknown flag.
    std::vector<std::string> long_names() const
    {
        std::vector<std::string> names;
        for (CLI::Option const* option : app_.get_options())
            for (std::string const& name : option->get_lnames())
                names.push_back("--" + name);
        return names;
    }

private:
    CLI::Option* value_flag(std::string const& names)
    {
        return app_.add_option(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }

    CLI::Option* add(key_row const& row)
    {
        std::string names = fmt::format("--{}", row.name);
        if (!row.short_flag.empty())
            names += fmt::format(",{}", row.short_flag);
        if (!row.other_names.empty())
            names += fmt::format(",--{}", row.other_names); // never more than one with a flag
        if (row.kind == value_kind::boolean)
            return app_.add_flag(names);
        return value_flag(names);
    }

    CLI::App app_;
    program_flags own_{};
    std::map<CLI::Option const*, key_row const*> row_of_;
    CLI::Option const* files_ = nullptr;
};

std::string_view base_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

// "--ciphers=" means an empty value; CLI11 would take the next word for it.
std::vector<std::string> split_words(std::span<char const* const> arguments)
{
    std::vector<std::string> words;
    bool only_files = false;
    for (std::string_view word : arguments) {
        only_files = only_files || word == "--";
        if (!only_files && word.starts_with("--") && word.ends_with('=')) {
            words.emplace_back(word.substr(0, word.size() - 1));
            word = "";
        }
        words.emplace_back(word);
    }
    return words;
}

problem mistake(std::string flag, std::string text, std::string cure)
{
    return {problem::severity::error, {std::move(flag)}, {}, std::move(text), std::move(cure)};
}

void report_unknown(flag_set const& flags, std::string_view program, std::vector<problem>& problems)
{
    std::vector<std::string> const names = flags.long_names();
    std::vector<std::string_view> const candidates(names.begin(), names.end());
    for (std::string const& word : flags.unknown()) {
        if (word == "--") // CLI11 returns the mark after which only files come
            continue;
        std::string const flag = word.substr(0, word.find('='));
        std::string_view const meant = flag.starts_with("--") ? nearest(flag, candidates) : "";
        problems.push_back(mistake(
            flag, "there is no such flag",
            meant.empty() ? fmt::format("{} --help lists all flags.", program)
                          : fmt::format("Did you mean {}?", meant)));
    }
}

dialect choose_dialect(
    program_flags const& own, std::string_view program, std::vector<problem>& problems)
{
    if (own.compat->count() == 0)
        return program == "stud" ? dialect::stud : dialect::hitch;
    std::string const& name = own.compat->results().back();
    if (name != "stud" && name != "hitch")
        problems.push_back(mistake(
            "--compat", fmt::format("\"{}\" is not a dialect", name), "Write hitch or stud."));
    return name == "stud" ? dialect::stud : dialect::hitch;
}

// The text to print, where a flag asks for a text and nothing else.
std::optional<command> requested_text(program_flags const& own, std::string_view program)
{
    if (own.help->count() != 0)
        return print_text{help_text(program)};
    if (own.version->count() != 0)
        return show_version{};
    if (own.reference->count() != 0)
        return print_text{reference_markdown()};
    if (own.default_config->count() != 0)
        return print_text{default_configuration()};
    return {};
}

} // namespace

command parse_command_line(std::span<char const* const> arguments)
{
    std::string const program{arguments.empty() ? "cleat" : base_name(arguments.front())};
    if (arguments.size() < 2)
        return print_text{usage_text(program), 1};
    if (arguments[1] == std::string_view{"reload"})
        return parse_reload(program, arguments.subspan(2));

    flag_set flags;
    try {
        flags.split(split_words(arguments.subspan(1)));
    } catch (CLI::ArgumentMismatch const& bad) {
        // The only mismatch that these flags can have: the last word is a flag that needs a value.
        std::string const flag =
            std::string{bad.what()}.substr(0, std::string{bad.what()}.find(':'));
        return refused{{mistake(
            flag, "a value was expected behind it",
            fmt::format("{} --help explains the flags.", program))}};
    } catch (CLI::ParseError const& bad) {
        return refused{{mistake(
            "command line", bad.what(), fmt::format("{} --help explains the flags.", program))}};
    }
    if (std::optional<command> text = requested_text(flags.own(), program))
        return *std::move(text);

    std::vector<problem> problems;
    report_unknown(flags, program, problems);
    dialect const compat = choose_dialect(flags.own(), program, problems);

    config settings;
    if (flags.own().config->count() > 1)
        problems.push_back(
            mistake("--config", "there can be only one configuration file", "Put them into one."));
    else if (flags.own().config->count() == 1)
        read_config_file(flags.own().config->results().front(), compat, settings, problems);

    flags.for_each_key([&](key_row const& row, std::string const& name, std::string const& text) {
        location const place{name};
        apply(settings, {row, row.name, text, place, compat}, problems);
    });

    // Without every value, settings that do not fit together are only a consequence.
    if (!has_errors(problems))
        check(settings, problems);
    if (has_errors(problems))
        return refused{std::move(problems)};
    if (flags.own().test->count() != 0)
        return check_only{std::move(settings), std::move(problems)};
    return serve{std::move(settings), std::move(problems), {arguments.begin(), arguments.end()}};
}

} // namespace cleat::app
