#include "manual/command_line_page.hpp"
#include "report/command_line.hpp"
#include "report/option_checks.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string_view>
#include <vector>

namespace cleat::locks {
namespace {

void add_trace(CLI::App& app, trace_selection& selection, char const* name = "trace")
{
    app.add_option(
           name, selection.trace, "the trace that `run -o` wrote: a folder, or one file in it")
        ->type_name("FILE")
        ->required();
    app.add_option("--pid", selection.pid, "only this process");
}

void add_most(CLI::App& app, std::size_t& most)
{
    app.add_option("--top", most, "rows of each table")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
}

constexpr char const* operations_option = "-n,--operations";

CLI::Range operations_range()
{
    return {std::uint64_t{1}, std::uint64_t{1} << 60};
}

struct requests
{
    run_request run;
    bool no_cpu = false;
    report_request report;
    diff_request diff;
    folded_request folded;
    std::string what = "blocked";
    html_request html;
    per_operation_request per_operation;
    mark_request mark;
    std::string edge;
    attach_request attach;
    lines_options lines;
};

void add_run(CLI::App& app, requests& all)
{
    CLI::App* const run = app.add_subcommand("run", "runs a program and records its locks");
    run->positionals_at_end();
    run->add_option("-o,--output", all.run.trace, "folder to write; otherwise PROGRAM.locks")
        ->type_name("FILE");
    run->add_option("--hz", all.run.cpu_hz, "CPU samples for each second of a thread's CPU time")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    run->add_flag("--no-cpu", all.no_cpu, "do not sample CPU time, which interrupts system calls");
    run->add_flag(
        "--every-hold", all.run.every_hold, "time every hold of a lock, not one of 16; costs more");
    run->add_option(
           "--signal", all.run.signal,
           "signal of the CPU samples, where the program uses SIGRTMAX-3")
        ->check(CLI::Range(SIGRTMIN, SIGRTMAX));
    run->add_option(
           "--from", all.run.window.from,
           "seconds after the start at which counting begins: set-up is over")
        ->check(CLI::NonNegativeNumber);
    run->add_option("--to", all.run.window.to, "seconds after the start at which counting ends")
        ->check(CLI::PositiveNumber);
    run->add_option("command", all.run.command, "the program, behind --, and its arguments")
        ->type_name("PROGRAM")
        ->required();
}

void add_readers(CLI::App& app, requests& all)
{
    CLI::App* const report = app.add_subcommand("report", "locks, call stacks, threads");
    add_trace(*report, all.report.selection);
    add_most(*report, all.report.most);
    report->add_option("--json", all.report.json, "write it as JSON; - is standard output")
        ->type_name("FILE");
    report->add_option("--pprof", all.report.pprof, "write it for pprof")->type_name("FILE");

    CLI::App* const diff = app.add_subcommand("diff", "what changed between two traces");
    diff->add_option("before", all.diff.before.trace, "the first trace, as for `report`")
        ->type_name("FILE")
        ->required();
    diff->add_option("after", all.diff.after.trace, "the trace of the same program after a change")
        ->type_name("FILE")
        ->required();
    add_most(*diff, all.diff.most);

    CLI::App* const folded = app.add_subcommand("folded", "stacks for flame graph programs");
    add_trace(*folded, all.folded.selection);
    folded
        ->add_option(
            "--what", all.what,
            "blocked, waiting, acquisitions, contended, cpu, lock-cpu or reference-cpu")
        ->capture_default_str();

    CLI::App* const html = app.add_subcommand("html", "a page with flame graphs and trees");
    add_trace(*html, all.html.selection);
    html->add_option("-o,--output", all.html.out, "file to write")->type_name("FILE")->required();
    html->add_option(
            operations_option, all.html.operations,
            "operations of the run: the page then shows the cost of each in locks, too")
        ->check(operations_range());

    CLI::App* const prices = app.add_subcommand(
        "per-operation", "what each operation costs in locks, and where a lock saturates");
    add_trace(*prices, all.per_operation.selection);
    prices->add_option(operations_option, all.per_operation.operations, "operations of the run")
        ->required()
        ->check(operations_range());
    add_most(*prices, all.per_operation.most);
    prices->add_option("--json", all.per_operation.json, "write it as JSON; - is standard output")
        ->type_name("FILE");
}

void add_mark(CLI::App& app, requests& all)
{
    CLI::App* const mark = app.add_subcommand(
        "mark", "begins or ends the part of a run that counts, while it is recorded");
    mark->add_option("trace", all.mark.trace, "the folder of `run -o`")
        ->type_name("FILE")
        ->required();
    mark->add_option("edge", all.edge, "begin or end")
        ->required()
        ->check(CLI::IsMember({"begin", "end"}));
}

void add_attach(CLI::App& app, requests& all)
{
    CLI::App* const attach = app.add_subcommand(
        "attach", "samples in which system calls the threads of a running process wait; no locks");
    attach->add_option("pid", all.attach.pid, "the process")
        ->required()
        ->check(CLI::PositiveNumber);
    attach->add_option("-d,--duration", all.attach.seconds, "seconds")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_most(*attach, all.attach.most);
}

// check refuses file names that are empty, which CLI11 accepts.
void check(requests const& all, CLI::App const& app)
{
    refuse_empty_name(app, "run", "-o", all.run.trace.empty());
    check_window(all.run.window);
    check_lines(app, all.lines);
    refuse_empty_name(app, "report", "--json", all.report.json.empty());
    refuse_empty_name(app, "report", "--pprof", all.report.pprof.empty());
    refuse_empty_name(app, "html", "-o", all.html.out.empty());
    refuse_empty_name(app, "per-operation", "--json", all.per_operation.json.empty());
}

command chosen(CLI::App const& app, requests& all)
{
    if (app.got_subcommand("run")) {
        if (all.no_cpu)
            all.run.cpu_hz = 0;
        return all.run;
    }
    if (app.got_subcommand("report"))
        return all.report;
    if (app.got_subcommand("diff"))
        return all.diff;
    if (app.got_subcommand("html"))
        return all.html;
    if (app.got_subcommand("per-operation"))
        return all.per_operation;
    if (app.got_subcommand("attach"))
        return all.attach;
    if (std::optional<lines_command> const lines = chosen_lines(app, all.lines))
        return std::visit([](auto const& each) -> command { return each; }, *lines);
    if (app.got_subcommand("mark")) {
        all.mark.edge = all.edge == "begin" ? window_edge::begin : window_edge::end;
        return all.mark;
    }
    std::optional<measure> const what = measure_named(all.what);
    if (!what)
        return print_request{
            fmt::format(
                "cleat-locks: --what {}: give blocked, waiting, acquisitions, contended, cpu, "
                "lock-cpu or reference-cpu\n",
                all.what),
            2};
    all.folded.measured = *what;
    return all.folded;
}

std::vector<manual::command> described_commands(CLI::App const& app)
{
    std::vector<manual::command> made = manual::commands_of(app);
    add_choices(made, "--what", measure_names());
    return made;
}

manual::page manual_page(CLI::App const& app)
{
    return {
        .name = "cleat-locks",
        .number = 1,
        .version = "cleat " CLEAT_VERSION,
        .summary = "lock profiler for any program",
        .description =
            {"cleat-locks shows where threads of any program wait for each other: it records the "
             "locks of a run, and reports on the record. `cleat-locks lines` shows which memory "
             "moves between threads of a program that is built for it."},
        .commands = described_commands(app),
        .see_also = {"cleat(1)", "cleat-bench(1)"}};
}

} // namespace

command parse_command_line(std::span<char const* const> arguments)
{
    CLI::App app{
        "cleat-locks shows where threads of any program wait for each other.\n\n"
        "  cleat-locks run -o t.locks -- ./server --threads 8\n"
        "  cleat-locks report t.locks\n",
        "cleat-locks"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string{"cleat-locks " CLEAT_VERSION});
    manual::add_manual_flags(app);
    requests all;
    add_run(app, all);
    add_readers(app, all);
    add_mark(app, all);
    add_attach(app, all);
    add_lines(app, all.lines);
    if (std::optional<std::string> text = manual::asked_text(manual_page(app), arguments))
        return print_request{*std::move(text), 0};
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        check(all, app);
    } catch (CLI::ParseError const& e) {
        std::ostringstream out;
        std::ostringstream err;
        int const code = app.exit(e, out, err);
        return print_request{
            code == 0 ? out.str() : "cleat-locks: " + err.str(), code == 0 ? 0 : 2};
    }
    return chosen(app, all);
}

} // namespace cleat::locks
