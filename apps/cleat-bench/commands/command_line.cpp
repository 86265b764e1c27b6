#include "commands/command_line.hpp"
#include "commands/idle_options.hpp"
#include "commands/load_options.hpp"
#include "commands/staircase_options.hpp"
#include "commands/transfer_options.hpp"
#include "compare/compare_options.hpp"
#include "compare/preset.hpp"
#include "compare/scenario_files.hpp"
#include "generate/target.hpp"
#include "manual/command_line_page.hpp"
#include "result/environment.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"
#include "text/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

// Of the program and of `load`.
constexpr char const* epilogue =
    "\nExamples:\n"
    "  cleat-bench load localhost:8443                     ten connections, for ten seconds\n"
    "  cleat-bench load -r 500 -d 30s localhost:8443       500 new connections a second\n"
    "  cleat-bench load --reuse 4 localhost:8443           three of four resume a session\n"
    "  cleat-bench load --websocket --messages 100 https://localhost:8443/echo\n"
    "  cleat-bench load --hosts a,b,c -r 500 server:8443   500 a second from each of three "
    "machines\n"
    "  cleat-bench load --phases 100-2000/60s --html r.html https://localhost:8443/1k\n";

constexpr char const* probe_epilogue =
    "\nExamples:\n"
    "  cleat-bench probe example.org                       all that one server shows\n"
    "  cleat-bench probe --strict a.example b.example:8443 a line for each; exit code 1 if one is "
    "weak\n";

constexpr char const* merge_epilogue = "\nExamples:\n"
                                       "  cleat-bench merge a.json b.json --json sum.json     of "
                                       "two machines that began at one moment\n";

constexpr char const* report_epilogue = "\nExamples:\n"
                                        "  cleat-bench report a.json b.json --out report.html  "
                                        "loads, staircases, comparisons, one page\n";

// The command line as it can be typed again.
std::string typed(std::span<char const* const> arguments)
{
    std::string text = "cleat-bench";
    for (char const* const each : arguments.subspan(1)) {
        std::string_view const word{each};
        bool const plain =
            !word.empty() &&
            word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "-_.,:/=+@%[]") == std::string_view::npos;
        text += ' ' + (plain ? std::string{word} : shell_quoted(word));
    }
    return text;
}

std::string version_text()
{
    return program_version() + "\n";
}

template <class Request>
Request with_command(Request request, std::span<char const* const> arguments)
{
    request.load.command = typed(arguments);
    return request;
}

void check(probe_request const& request)
{
    auto const timeout = parse_length(request.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", request.timeout)};
    // An address is verified; SNI has none.
    if (!request.name.empty() && !is_address(request.name))
        check_server_name("--sni", request.name);
}

// distance is how many letters have to be added, taken away or changed.
std::size_t distance(std::string_view typed, std::string_view known)
{
    std::vector<std::size_t> row(known.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i != typed.size(); ++i) {
        std::size_t before = std::exchange(row[0], i + 1);
        for (std::size_t k = 0; k != known.size(); ++k) {
            std::size_t const same = before + (typed[i] == known[k] ? 0 : 1);
            before = row[k + 1];
            row[k + 1] = std::min({same, row[k] + 1, before + 1});
        }
    }
    return row.back();
}

// unknown_subcommand is the message for a first argument that is neither an option nor a
// subcommand.
std::optional<std::string> unknown_subcommand(
    CLI::App const& app, std::span<char const* const> arguments)
{
    if (arguments.size() < 2 || std::string_view{arguments[1]}.starts_with('-'))
        return std::nullopt;
    std::string_view const word{arguments[1]};
    std::vector<std::string> names;
    for (CLI::App const* const each : app.get_subcommands([](CLI::App const*) { return true; }))
        names.push_back(each->get_name());
    if (std::ranges::find(names, word) != names.end())
        return std::nullopt;
    auto const near = std::ranges::min_element(
        names, {}, [&](std::string const& each) { return distance(word, each); });
    std::string const meant = distance(word, *near) <= 2
                                  ? fmt::format("; did you mean {}?", *near)
                                  : fmt::format("; there are {}", fmt::join(names, ", "));
    return fmt::format(
        "cleat-bench: there is no subcommand '{}'{}\nTry: cleat-bench --help\n", word, meant);
}

// unknown_option is the message for the first word that looks like an option and is none of the
// subcommand's.
std::optional<std::string> unknown_option(
    CLI::App const& app, std::span<char const* const> arguments)
{
    if (arguments.size() < 2)
        return std::nullopt;
    std::vector<CLI::App const*> const commands =
        app.get_subcommands([&](CLI::App const* each) { return each->get_name() == arguments[1]; });
    if (commands.empty())
        return std::nullopt;
    CLI::App const* const command = commands.front();
    std::vector<std::string> names;
    for (CLI::Option const* const each : command->get_options())
        for (std::string const& name : each->get_lnames())
            names.push_back("--" + name);
    for (char const* const each : arguments.subspan(2)) {
        std::string_view word{each};
        word = word.substr(0, word.find('='));
        if (!word.starts_with("--") || word == "--" ||
            std::ranges::find(names, word) != names.end())
            continue;
        auto const near = std::ranges::min_element(
            names, {}, [&](std::string const& name) { return distance(word, name); });
        bool const is_near = near != names.end() && distance(word, *near) <= 2;
        auto const longer = std::ranges::find_if(
            names, [&](std::string const& name) { return name.starts_with(word); });
        std::string const meant = is_near                 ? "; did you mean " + *near + "?"
                                  : longer != names.end() ? "; did you mean " + *longer + "?"
                                                          : std::string{};
        return fmt::format(
            "cleat-bench {}: there is no option {}{}\n", command->get_name(), word, meant);
    }
    return std::nullopt;
}

// An empty argument is nearly always a shell variable that was not set.
void refuse_empty_words(CLI::App const& app)
{
    for (CLI::Option const* const each : app.get_options())
        for (std::string const& word : each->results())
            if (word.empty())
                throw std::runtime_error{fmt::format(
                    "{}: the word for it is empty; give one, or leave the option out",
                    each->get_name())};
}

void add_load(CLI::App& app, load_options& options)
{
    options.add_schedule(app);
    options.add_limits(app);
    options.add_tls(app);
    options.add_exchange(app);
    options.add_http2(app);
    options.add_streams(app);
    options.add_websocket(app);
    options.add_output(app);
    options.add_gate(app);
    options.add_hosts(app);
    options.add_target(app);
    app.footer(epilogue);
}

void add_probe(CLI::App& app, probe_request& request)
{
    app.add_option("targets", request.targets, "HOST, HOST:PORT or https://HOST:PORT/")->required();
    app.add_option("--ca", request.authorities, "PEM file of authorities; otherwise the system's")
        ->type_name("FILE");
    app.add_option(
        "--sni,--name", request.name,
        "name to ask for and to verify; otherwise the host; an address is verified only");
    app.add_option("--timeout", request.timeout, "limit of each connection")->capture_default_str();
    app.add_option("--parallel", request.parallel, "hosts that are probed at a time")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--json", request.json, "write all findings to this file")->type_name("FILE");
    app.add_option(
        "--fleet", request.fleet,
        "hosts that should resume the target's sessions; each with all its addresses");
    app.add_option(
        "--warn-days", request.warn_days,
        "a certificate with fewer days left is weak; otherwise by its lifetime");
    app.add_flag("--strict", request.strict, "exit code 1 where anything is weak");
    app.footer(probe_epilogue);
}

void add_merge(CLI::App& app, merge_request& request)
{
    app.add_option("files", request.files, "results of `load --json`")
        ->type_name("FILE")
        ->required();
    app.add_option("--json", request.output.json, "write the sum to this file")->type_name("FILE");
    app.add_option("--html", request.output.html, "write a report with charts to this file")
        ->type_name("FILE");
    app.add_option("--name", request.name, "name of the sum");
    app.footer(merge_epilogue);
}

void add_report(CLI::App& app, report_request& request)
{
    app.add_option("files", request.files, "files that `--json` of any subcommand wrote")
        ->type_name("FILE")
        ->required();
    app.add_option("--out", request.out, "the file to write")->type_name("FILE")->required();
    app.footer(report_epilogue);
}

// subcommands holds the options of each, and makes the request of the one that was given.
class subcommands
{
public:
    explicit subcommands(CLI::App& app)
        : load_app_{app.add_subcommand(
              "load", "transactions against one server: a closed loop, or an open one with --rate")}
        , staircase_app_{app.add_subcommand(
              "staircase",
              "steps the rate up until the server breaks: its highest rates, and the knee")}
        , transfer_app_{app.add_subcommand("transfer", "messages of one size: MB/s and CPU per GB")}
        , idle_app_{app.add_subcommand(
              "idle", "holds connections open: memory of the server for each of them")}
        , probe_app_{app.add_subcommand(
              "probe", "what a server chooses and offers, and a verdict in words")}
        , merge_app_{app.add_subcommand(
              "merge", "add up the results of several generators that ran at the same time")}
        , report_app_{app.add_subcommand(
              "report",
              "one HTML file with charts, from results and comparisons; it needs no network")}
        , compare_app_{app.add_subcommand(
              "compare", "starts servers with equal settings and lays them side by side")}
        , serve_app_{
              app.add_subcommand("serve", "starts one server as `compare` does, until Ctrl-C")}
    {
        add_load(*load_app_, load_);
        staircase_.add_to(*staircase_app_);
        transfer_.add_to(*transfer_app_);
        idle_.add_to(*idle_app_);
        add_probe(*probe_app_, probe_);
        add_merge(*merge_app_, merge_);
        add_report(*report_app_, report_);
        compare_.add_to(*compare_app_);
        serve_.add_to(*serve_app_);
    }

    [[nodiscard]] command request_for(std::span<char const* const> arguments)
    {
        if (merge_app_->parsed())
            return merge_;
        if (report_app_->parsed())
            return report_;
        if (probe_app_->parsed()) {
            check(probe_);
            return probe_;
        }
        if (compare_app_->parsed()) {
            compare_request request = compare_.make();
            request.command = typed(arguments);
            return request;
        }
        if (serve_app_->parsed())
            return serve_.make();
        if (staircase_app_->parsed())
            return with_command(staircase_.make(), arguments);
        if (transfer_app_->parsed())
            return with_command(transfer_.make(), arguments);
        if (idle_app_->parsed())
            return with_command(idle_.make(), arguments);
        load_request request = load_.make();
        request.command = typed(arguments);
        return request;
    }

private:
    CLI::App *load_app_, *staircase_app_, *transfer_app_, *idle_app_, *probe_app_, *merge_app_,
        *report_app_, *compare_app_, *serve_app_;
    load_options load_;
    staircase_options staircase_;
    transfer_options transfer_;
    idle_options idle_;
    probe_request probe_;
    merge_request merge_;
    report_request report_;
    compare_options compare_;
    serve_options serve_;
};

std::vector<manual::command> described_commands(CLI::App const& app)
{
    std::vector<manual::command> made = manual::commands_of(app);
    for (char const* const name : {"server", "--servers", "--base"})
        add_choices(made, name, preset_names());
    add_choices(made, "--scenario", {"all"});
    add_choices(made, "--scenario", scenario_names());
    return made;
}

manual::page manual_page(CLI::App const& app)
{
    return {
        .name = "cleat-bench",
        .number = 1,
        .version = "cleat " CLEAT_VERSION,
        .summary = "load generator for TLS servers",
        .description = {app.get_description()},
        .commands = described_commands(app),
        .see_also = {"cleat(1)", "cleat-locks(1)"}};
}

} // namespace

command parse_command_line(std::span<char const* const> arguments)
{
    CLI::App app{"cleat-bench finds out what a TLS server can do, and lays servers side by side."};
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text);
    app.footer(epilogue);
    manual::add_manual_flags(app);
    subcommands all{app};

    if (std::optional<std::string> text = manual::asked_text(manual_page(app), arguments))
        return print_request{*std::move(text), 0};
    if (auto complaint = unknown_subcommand(app, arguments))
        return print_request{std::move(*complaint), 2};
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        for (CLI::App const* const each : app.get_subcommands())
            refuse_empty_words(*each);
        return all.request_for(arguments);
    } catch (CLI::Success const& asked) {
        // --help and --version, of the program or of a subcommand.
        if (dynamic_cast<CLI::CallForVersion const*>(&asked) != nullptr)
            return print_request{asked.what(), 0};
        for (CLI::App* const each : app.get_subcommands())
            return print_request{each->help("cleat-bench"), 0};
        return print_request{app.help(), 0};
    } catch (CLI::ExtrasError const& wrong) {
        return print_request{
            unknown_option(app, arguments)
                    .value_or(fmt::format("cleat-bench: {}\n", wrong.what())) +
                "Try: cleat-bench --help\n",
            2};
    } catch (unreachable const&) {
        throw;
    } catch (CLI::ParseError const& wrong) {
        return print_request{
            fmt::format("cleat-bench: {}\nTry: cleat-bench --help\n", wrong.what()), 2};
    } catch (std::runtime_error const& wrong) {
        return print_request{fmt::format("cleat-bench: {}\n", wrong.what()), 2};
    }
}

} // namespace cleat::bench
