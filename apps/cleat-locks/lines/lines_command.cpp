#include "lines/lines_command.hpp"
#include "report/option_checks.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>

namespace cleat::locks {
namespace {

void add_lines_run(CLI::App& app, lines_options& all)
{
    CLI::App* const run = app.add_subcommand(
        "lines",
        "runs a program that is built for it, and records which memory moves between threads");
    run->positionals_at_end();
    run->add_option("-o,--output", all.run.file, "file to write; otherwise PROGRAM.lines")
        ->type_name("FILE");
    run->add_option(
           "--from", all.run.window.from,
           "seconds after the start from which on moves count: set-up is over")
        ->check(CLI::NonNegativeNumber);
    run->add_option("--to", all.run.window.to, "seconds after the start until which they count")
        ->check(CLI::PositiveNumber);
    run->add_flag("--wait", all.run.waits, "count nothing until `lines-mark FILE begin`");
    run->add_option("command", all.run.command, "the program, behind --, and its arguments")
        ->type_name("PROGRAM")
        ->required();
}

void add_report(CLI::App& app, lines_options& all)
{
    CLI::App* const report = app.add_subcommand(
        "lines-report", "memory that moved between threads, and the code that did it");
    report->add_option("file", all.report.file, "what `lines -o` wrote")
        ->type_name("FILE")
        ->required();
    report
        ->add_option(
            "-n,--operations", all.report.view.operations,
            "operations of the part that counts: figures are also for each of them")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 60));
    report->add_option("--top", all.report.view.most, "rows")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    report->add_option("--json", all.report.json, "write it as JSON; - is standard output")
        ->type_name("FILE");
}

} // namespace

void add_lines(CLI::App& app, lines_options& all)
{
    add_lines_run(app, all);
    add_report(app, all);
    CLI::App* const mark = app.add_subcommand("lines-mark", "as mark, for what `lines` records");
    mark->add_option("file", all.mark.file, "the file of `lines -o`")
        ->type_name("FILE")
        ->required();
    mark->add_option("edge", all.edge, "begin or end")
        ->required()
        ->check(CLI::IsMember({"begin", "end"}));
    app.add_subcommand(
        "lines-flags", "how a program is built for `lines`: options of gcc and clang");
}

void check_lines(CLI::App const& app, lines_options const& all)
{
    check_window(all.run.window);
    if (all.run.waits && (all.run.window.from || all.run.window.to))
        throw CLI::ValidationError{"--wait", "give either it, or --from and --to"};
    refuse_empty_name(app, "lines", "-o", all.run.file.empty());
    refuse_empty_name(app, "lines-report", "--json", all.report.json.empty());
}

std::optional<lines_command> chosen_lines(CLI::App const& app, lines_options const& all)
{
    if (app.got_subcommand("lines"))
        return all.run;
    if (app.got_subcommand("lines-report"))
        return all.report;
    if (app.got_subcommand("lines-flags"))
        return lines_flags_request{};
    if (!app.got_subcommand("lines-mark"))
        return std::nullopt;
    lines_mark_request made = all.mark;
    made.edge = all.edge == "begin" ? window_edge::begin : window_edge::end;
    return made;
}

} // namespace cleat::locks
