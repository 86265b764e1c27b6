#include "options.hpp"

#include <CLI/CLI.hpp>

#include <map>

namespace statsync {
namespace {

fields fields_named(std::string const& text, fields allowed)
{
    fields some;
    std::string names = text + ",";
    while (!names.empty()) {
        std::size_t const comma = names.find(',');
        std::string const name = names.substr(0, comma);
        names.erase(0, comma + 1);
        std::optional<field> const one = field_named(name);
        if (!one || !allowed.has(*one)) {
            throw CLI::ValidationError("'" + name + "' is not one of " + statsync::names(allowed));
        }
        some |= *one;
    }
    return some;
}

void add_field_list(
    CLI::App& command, std::string const& name, fields& some, fields allowed,
    std::string const& meaning)
{
    command
        .add_option_function<std::string>(
            name, [&some, allowed](std::string const& text) { some = fields_named(text, allowed); },
            meaning + ": " + names(allowed))
        ->type_name("FIELD,...");
}

void add_matching(CLI::App& command, options& parsed)
{
    static std::map<std::string, text_form> const forms{
        {"lower", text_form::lower},
        {"folded", text_form::folded},
        {"compatible", text_form::compatible}};
    command.add_option("providers", parsed.providers, "providers, by name or id; otherwise all");
    command.add_option("--match", parsed.form, "how names are compared: lower, folded, compatible")
        ->transform(CLI::Transformer(forms))
        ->type_name("FORM");
    add_field_list(
        command, "--ignore", parsed.ignored, identity_fields - mandatory_fields,
        "fields that are not compared");
}

void add_rows(CLI::App& command, options& parsed)
{
    command.add_option("--rows", parsed.rows_max, "how many tracks to show (50)")
        ->check(CLI::NonNegativeNumber);
}

void add_merging(CLI::App& command, options& parsed)
{
    add_matching(command, parsed);
    add_field_list(command, "--fields", parsed.synced, statistic_fields, "what is synchronised");
    command.add_option("--from", parsed.from, "providers that are read and not written")
        ->delimiter(',');
    command.add_option("--to", parsed.to, "the only providers that are written")->delimiter(',');
    command
        .add_option("--prefer", parsed.prefer, "providers that win conflicts, the first one first")
        ->delimiter(',');
    command
        .add_option(
            "--exclude-label", parsed.excluded_labels, "a label that is left alone, repeatable")
        ->allow_extra_args(false);
    command.add_option("--ratings", parsed.ratings, "ratings in conflict: leave, highest, lowest")
        ->check(CLI::IsMember({"leave", "highest", "lowest"}));
    command.add_option("--labels", parsed.labels, "labels in conflict: leave, unite")
        ->check(CLI::IsMember({"leave", "unite"}));
    command.add_flag(
        "--baseline", parsed.uses_baseline,
        "compare with the last run: plays since then add up, and a rating or label that changed in"
        " one player wins");
    command.add_flag(
        "--exact-ratings", parsed.exact_ratings, "3.5 stars and 4 are a conflict for whole stars");
    command.add_flag(
        "--unrated-yields", parsed.unrated_yields, "an unrated track takes the others' rating");
}

void add_configuration(CLI::App& program, options& parsed)
{
    program.add_subcommand("types", "list the types of players, and their settings");
    program.add_subcommand("detect", "find the players of this user");
    program.add_subcommand("list", "list the providers");

    CLI::App* const add = program.add_subcommand("add", "add a provider");
    add->add_option("type", parsed.subject, "a type, see `statsync types`")->required();
    add->add_option("--path", parsed.path, "short for path=...");
    add->add_option("--name", parsed.name, "what to call it; otherwise as its type");
    add->add_option("settings", parsed.settings, "key=value");

    CLI::App* const set = program.add_subcommand("set", "change settings of a provider");
    set->add_option("provider", parsed.subject, "name or id")->required();
    set->add_option("settings", parsed.settings, "key=value; key= takes the default")->required();

    CLI::App* const forget = program.add_subcommand("forget", "forget a provider");
    forget->add_option("provider", parsed.subject, "name or id")->required();
}

void add_work(CLI::App& program, options& parsed)
{
    CLI::App* const show = program.add_subcommand("show", "show the tracks of a provider");
    show->add_option("provider", parsed.subject, "name or id")->required();
    show->add_option("--artist", parsed.artist, "tracks of this artist only");

    CLI::App* const diff =
        program.add_subcommand("diff", "show which tracks are matched, unique and excluded");
    add_matching(*diff, parsed);
    add_rows(*diff, parsed);

    CLI::App* const sync = program.add_subcommand("sync", "synchronise statistics");
    add_merging(*sync, parsed);
    add_rows(*sync, parsed);
    sync->add_option(
            "--conflicts", parsed.conflicts,
            "conflicts that nothing settles: skip, ask, or fail and write nothing")
        ->check(CLI::IsMember({"skip", "ask", "fail"}));
    sync->add_flag("--dry-run", parsed.is_dry_run, "show what would be written, and end");
    sync->add_flag("--yes", parsed.is_confirmed, "do not ask");

    CLI::App* const review = program.add_subcommand(
        "review", "look at a synchronisation, and settle its conflicts, in a browser");
    add_merging(*review, parsed);

    program.add_subcommand("undo", "take the last synchronisation back");
}

} // namespace

bool parse(int count, char** words, options& parsed, int& code)
{
    CLI::App program{"Carries ratings, play counts, dates and labels from player to player."};
    program.name("statsync");
    program.set_version_flag("--version", STATSYNC_VERSION);
    program.require_subcommand(1);
    add_configuration(program, parsed);
    add_work(program, parsed);
    program.footer(
        "Exit codes: 0 done, 1 failed, 2 usage, 3 conflicts remain, 4 a player is in use,\n"
        "5 some providers could not be written.");
    try {
        program.parse(count, words);
    } catch (CLI::ParseError const& error) {
        code = program.exit(error) == 0 ? exit_done : exit_usage;
        return false;
    }
    parsed.command = program.get_subcommands().at(0)->get_name();
    return true;
}

} // namespace statsync
