#include "command_line/start_flags.hpp"
#include "config/check.hpp"
#include "config/parser.hpp"
#include "config/table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cleat::app {
namespace {

// The long name of "-t,--test" is "test".
std::string long_name(std::string_view names)
{
    return std::string{names.substr(names.find("--") + 2)};
}

// The table's rows as flags of CLI11, which splits the words; the table knows what they mean.
class flag_set
{
public:
    // `words` are those to be split. CLI11 compares each new flag with all others, so that all of
    // them would take as long as the rest of a reload: the flags of keys that no word names are
    // left out.
    flag_set(std::span<own_flag const> own, std::span<std::string const> words)
    {
        app_.set_help_flag();
        app_.allow_extras(); // unknown flags are reported here, with the nearest one
        config_ = value_flag("--config");
        compat_ = value_flag("--compat");
        for (own_flag const& each : own) {
            std::string const names{each.names};
            CLI::Option* const option =
                each.kind == own_flag::kind::value ? value_flag(names) : app_.add_flag(names);
            own_.emplace_back(option, &each);
        }
        for (key_row const& row : config_table())
            if (row.where.flag && is_named(row, words))
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

    CLI::Option const& config_option() const { return *config_; }
    CLI::Option const& compat_option() const { return *compat_; }

    // Stores the given ones of the command's own flags. True: one of them asks for a text instead.
    bool take_own(start_words& found) const
    {
        bool is_instead = false;
        for (auto const& [option, flag] : own_) {
            if (option->count() == 0)
                continue;
            found.own[long_name(flag->names)] = option->results();
            is_instead = is_instead || flag->kind == own_flag::kind::instead;
        }
        return is_instead;
    }

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

private:
    static bool is_named(key_row const& row, std::span<std::string const> words)
    {
        if (!row.short_flag.empty())
            return true; // "-qD" names two.
        return std::ranges::any_of(words, [&](std::string const& word) {
            std::string_view const flag = std::string_view{word}.substr(0, word.find('='));
            // "-q-daemon" is "-q --daemon" for CLI11.
            return flag.starts_with('-') &&
                   (flag.ends_with(row.name) ||
                    (!row.other_names.empty() && flag.ends_with(row.other_names)));
        });
    }

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
    CLI::Option* config_ = nullptr;
    CLI::Option* compat_ = nullptr;
    std::vector<std::pair<CLI::Option*, own_flag const*>> own_;
    std::map<CLI::Option const*, key_row const*> row_of_;
    CLI::Option const* files_ = nullptr;
};

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

// Every long flag, to find the nearest one to an unknown flag.
std::vector<std::string> long_flags(std::span<own_flag const> own)
{
    std::vector<std::string> names{"--config", "--compat"};
    for (own_flag const& each : own)
        names.push_back("--" + long_name(each.names));
    for (key_row const& row : config_table()) {
        if (!row.where.flag)
            continue;
        names.push_back(fmt::format("--{}", row.name));
        if (!row.other_names.empty())
            names.push_back(fmt::format("--{}", row.other_names));
    }
    return names;
}

void report_unknown(
    flag_set const& flags, start_command const& start, std::vector<problem>& problems)
{
    if (flags.unknown().empty())
        return;
    std::vector<std::string> const names = long_flags(start.flags);
    std::vector<std::string_view> const candidates(names.begin(), names.end());
    for (std::string const& word : flags.unknown()) {
        if (word == "--") // CLI11 returns the mark after which only files come
            continue;
        std::string const flag = word.substr(0, word.find('='));
        std::string_view const meant = flag.starts_with("--") ? nearest(flag, candidates) : "";
        problems.push_back(mistake(
            flag, "there is no such flag",
            meant.empty() ? fmt::format("{} --help lists all flags.", start.name)
                          : fmt::format("Did you mean {}?", meant)));
    }
}

dialect choose_dialect(
    CLI::Option const& compat, std::string_view program, std::vector<problem>& problems)
{
    if (compat.count() == 0)
        return program == "stud" ? dialect::stud : dialect::hitch;
    std::string const& name = compat.results().back();
    if (name != "stud" && name != "hitch")
        problems.push_back(mistake(
            "--compat", fmt::format("\"{}\" is not a dialect", name), "Write hitch or stud."));
    return name == "stud" ? dialect::stud : dialect::hitch;
}

void read_settings(
    flag_set const& flags, dialect compat, file_opener const& opener, start_words& found)
{
    CLI::Option const& file = flags.config_option();
    if (file.count() > 1)
        found.problems.push_back(
            mistake("--config", "there can be only one configuration file", "Put them into one."));
    else if (file.count() == 1)
        read_config_file(file.results().front(), compat, found.settings, found.problems, opener);

    flags.for_each_key([&](key_row const& row, std::string const& name, std::string const& text) {
        location const place{name};
        apply(found.settings, {row, row.name, text, place, compat}, found.problems);
    });
}

} // namespace

problem mistake(std::string flag, std::string text, std::string cure)
{
    return {problem::severity::error, {std::move(flag)}, {}, std::move(text), std::move(cure)};
}

start_words read_start_words(start_command const& start, std::span<char const* const> words)
{
    start_words found;
    std::string const cure = fmt::format("{} --help explains the flags.", start.name);
    std::vector<std::string> const split = split_words(words);
    flag_set flags{start.flags, split};
    try {
        flags.split(split);
    } catch (CLI::ArgumentMismatch const& bad) {
        // The only mismatch that these flags can have: the last word is a flag that needs a value.
        std::string const text = bad.what();
        found.problems.push_back(
            mistake(text.substr(0, text.find(':')), "a value was expected behind it", cure));
        return found;
    } catch (CLI::ParseError const& bad) {
        found.problems.push_back(mistake("command line", bad.what(), cure));
        return found;
    }
    if (flags.take_own(found))
        return found;

    report_unknown(flags, start, found.problems);
    dialect const compat = choose_dialect(flags.compat_option(), start.program, found.problems);
    read_settings(flags, compat, start.opener, found);
    // Without every value, settings that do not fit together are only a consequence.
    if (rest_is_whole(found.problems))
        check(found.settings, found.problems);
    return found;
}

} // namespace cleat::app
