#include "report/command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string_view>
#include <vector>

namespace cleat::locks {
namespace {

void add_trace(CLI::App& to, from_trace& from, char const* name = "trace")
{
    to.add_option(name, from.trace, "what `run -o` wrote: a folder, or one file in it")->required();
    to.add_option("--pid", from.pid, "of this process alone");
}

void add_most(CLI::App& to, std::size_t& most)
{
    to.add_option("--top", most, "rows of each table")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
}

constexpr char const* operations_option = "-n,--operations";

CLI::Range operations_range()
{
    return {std::uint64_t{1}, std::uint64_t{1} << 60};
}

struct wishes
{
    run_wish run;
    bool no_cpu = false;
    do_report report;
    do_diff diff;
    do_folded folded;
    std::string what = "blocked";
    do_html html;
    do_per_operation per_operation;
};

void add_run(CLI::App& app, wishes& to)
{
    CLI::App* const run = app.add_subcommand("run", "runs a program and records its locks");
    run->positionals_at_end();
    run->add_option("-o,--output", to.run.trace, "folder to write; otherwise PROGRAM.locks");
    run->add_option("--hz", to.run.cpu_hz, "CPU samples for each second of a thread's CPU time")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    run->add_flag("--no-cpu", to.no_cpu, "do not sample CPU time, which interrupts system calls");
    run->add_flag(
        "--every-hold", to.run.every_hold, "time every hold of a lock, not one of 16; costs more");
    run->add_option(
           "--signal", to.run.signal, "of the CPU samples, where the program uses SIGRTMAX-3")
        ->check(CLI::Range(SIGRTMIN, SIGRTMAX));
    run->add_option("command", to.run.command, "the program, behind --, and its arguments")
        ->required();
}

void add_readers(CLI::App& app, wishes& to)
{
    CLI::App* const report = app.add_subcommand("report", "locks, call stacks, threads");
    add_trace(*report, to.report.from);
    add_most(*report, to.report.most);
    report->add_option("--json", to.report.json, "write it as JSON; - is standard output");
    report->add_option("--pprof", to.report.pprof, "write it for pprof");

    CLI::App* const diff = app.add_subcommand("diff", "what changed between two traces");
    diff->add_option("before", to.diff.before.trace, "a trace, as `report` reads it")->required();
    diff->add_option("after", to.diff.after.trace, "one of the same program, changed")->required();
    add_most(*diff, to.diff.most);

    CLI::App* const folded = app.add_subcommand("folded", "stacks for flame graph programs");
    add_trace(*folded, to.folded.from);
    folded
        ->add_option(
            "--what", to.what,
            "blocked, waiting, acquisitions, contended, cpu, lock-cpu or reference-cpu")
        ->capture_default_str();

    CLI::App* const html = app.add_subcommand("html", "a page with flame graphs and trees");
    add_trace(*html, to.html.from);
    html->add_option("-o,--output", to.html.out, "file to write")->required();
    html->add_option(
            operations_option, to.html.operations,
            "operations of the run: the page shows what each costs in locks, too")
        ->check(operations_range());

    CLI::App* const prices = app.add_subcommand(
        "per-operation", "what each operation costs in locks, and where a lock saturates");
    add_trace(*prices, to.per_operation.from);
    prices->add_option(operations_option, to.per_operation.operations, "operations of the run")
        ->required()
        ->check(operations_range());
    add_most(*prices, to.per_operation.most);
    prices->add_option("--json", to.per_operation.json, "write it as JSON; - is standard output");
}

// What CLI11 takes for no word at all.
void check(wishes const& all, CLI::App const& app)
{
    auto const refuse_empty = [&](char const* command, char const* option, bool empty) {
        if (app.got_subcommand(command) && app.get_subcommand(command)->count(option) > 0 && empty)
            throw CLI::ValidationError{option, "the name is empty"};
    };
    refuse_empty("run", "-o", all.run.trace.empty());
    refuse_empty("report", "--json", all.report.json.empty());
    refuse_empty("report", "--pprof", all.report.pprof.empty());
    refuse_empty("html", "-o", all.html.out.empty());
    refuse_empty("per-operation", "--json", all.per_operation.json.empty());
}

command chosen(CLI::App const& app, wishes& all)
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
    std::optional<measure> const what = measure_named(all.what);
    if (!what)
        return do_print{
            fmt::format(
                "cleat-locks: --what {}: give blocked, waiting, acquisitions, contended, cpu, "
                "lock-cpu or reference-cpu\n",
                all.what),
            2};
    all.folded.what = *what;
    return all.folded;
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
    wishes all;
    add_run(app, all);
    add_readers(app, all);
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        check(all, app);
    } catch (CLI::ParseError const& e) {
        std::ostringstream out;
        std::ostringstream err;
        int const code = app.exit(e, out, err);
        return do_print{code == 0 ? out.str() : "cleat-locks: " + err.str(), code == 0 ? 0 : 2};
    }
    return chosen(app, all);
}

} // namespace cleat::locks
