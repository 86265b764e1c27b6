#include "commands/command_line.hpp"
#include "commands/idle_options.hpp"
#include "commands/load_options.hpp"
#include "commands/staircase_options.hpp"
#include "commands/transfer_options.hpp"
#include "compare/compare_words.hpp"
#include "generate/target.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"

#include <cleat/tls/context.hpp>

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

// Of the program: what each subcommand is for, in one line.
constexpr char const* epilogue =
    "\nExamples:\n"
    "  cleat-bench load localhost:8443                     ten connections, for ten seconds\n"
    "  cleat-bench load -r 500 -d 30s localhost:8443       500 new connections a second\n"
    "  cleat-bench load --reuse 4 localhost:8443           three of four resume a session\n"
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
        text += ' ';
        if (plain) {
            text += word;
            continue;
        }
        text += '\'';
        for (char const c : word)
            text += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
        text += '\'';
    }
    return text;
}

std::string version_text()
{
    return fmt::format("cleat-bench {} on {}\n", CLEAT_VERSION, tls::library_version());
}

template <class Wish>
Wish with_command(Wish wish, std::span<char const* const> arguments)
{
    wish.load.command = typed(arguments);
    return wish;
}

void check(do_probe const& wish)
{
    auto const timeout = parse_length(wish.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", wish.timeout)};
    // An address is verified, and not asked for.
    if (!wish.name.empty() && !is_address(wish.name))
        check_server_name("--sni", wish.name);
}

// distance is how many letters have to be added, taken away or changed.
std::size_t distance(std::string_view from, std::string_view to)
{
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i != from.size(); ++i) {
        std::size_t before = std::exchange(row[0], i + 1);
        for (std::size_t k = 0; k != to.size(); ++k) {
            std::size_t const same = before + (from[i] == to[k] ? 0 : 1);
            before = row[k + 1];
            row[k + 1] = std::min({same, row[k] + 1, before + 1});
        }
    }
    return row.back();
}

// unknown_subcommand is the complaint about a first word that is none, where it is not an option.
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

// An empty word is a variable of a shell that was not set, hardly ever what somebody wants.
void refuse_empty_words(CLI::App const& of)
{
    for (CLI::Option const* const each : of.get_options())
        for (std::string const& word : each->results())
            if (word.empty())
                throw std::runtime_error{fmt::format(
                    "{}: the word for it is empty; give one, or leave the option out",
                    each->get_name())};
}

void add_load(CLI::App& to, load_words& loading)
{
    loading.add_when(to);
    loading.add_limits(to);
    loading.add_tls(to);
    loading.add_exchange(to);
    loading.add_output(to);
    loading.add_target(to);
    to.footer(epilogue);
}

void add_probe(CLI::App& to, do_probe& asking)
{
    to.add_option("targets", asking.targets, "HOST, HOST:PORT or https://HOST:PORT/")->required();
    to.add_option("--ca", asking.authorities, "PEM file of authorities; otherwise the system's");
    to.add_option(
        "--sni,--name", asking.name,
        "name to ask for and to verify; otherwise the host; an address is verified only");
    to.add_option("--timeout", asking.timeout, "of each connection")->capture_default_str();
    to.add_option("--parallel", asking.parallel, "hosts that are probed at a time")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    to.add_option("--json", asking.json, "write all findings to this file");
    to.add_flag("--strict", asking.strict, "exit code 1 where anything is weak");
    to.footer(probe_epilogue);
}

void add_merge(CLI::App& to, do_merge& merging)
{
    to.add_option("files", merging.files, "results of `load --json`")->required();
    to.add_option("--json", merging.to.json, "write the sum to this file");
    to.add_option("--html", merging.to.html, "write a report with charts to this file");
    to.add_option("--name", merging.name, "what to call the sum");
    to.footer(merge_epilogue);
}

void add_report(CLI::App& to, do_report& reporting)
{
    to.add_option("files", reporting.files, "what `--json` wrote, of any subcommand")->required();
    to.add_option("--out", reporting.out, "the file to write")->required();
    to.footer(report_epilogue);
}

// subcommands has the words of each, and what is made of those that were given.
class subcommands
{
public:
    explicit subcommands(CLI::App& to)
        : load_{to.add_subcommand(
              "load", "transactions against one server: a closed loop, or an open one with --rate")}
        , staircase_{to.add_subcommand(
              "staircase",
              "steps the rate up until the server breaks: its highest rates, and the knee")}
        , transfer_{to.add_subcommand("transfer", "messages of one size: MB/s and CPU per GB")}
        , idle_{to.add_subcommand(
              "idle", "holds connections open: memory of the server for each of them")}
        , probe_{to.add_subcommand(
              "probe", "what a server chooses and offers, and a verdict in words")}
        , merge_{to.add_subcommand(
              "merge", "add up the results of several generators that ran at the same time")}
        , report_{to.add_subcommand(
              "report",
              "one HTML file with charts, from results and comparisons; it needs no network")}
        , compare_{to.add_subcommand(
              "compare", "starts servers with equal settings and lays them side by side")}
        , serve_{to.add_subcommand("serve", "starts one server as `compare` does, until Ctrl-C")}
    {
        add_load(*load_, loading_);
        climbing_.add_to(*staircase_);
        moving_.add_to(*transfer_);
        holding_.add_to(*idle_);
        add_probe(*probe_, asking_);
        add_merge(*merge_, merging_);
        add_report(*report_, reporting_);
        comparing_.add_to(*compare_);
        serving_.add_to(*serve_);
    }

    [[nodiscard]] command chosen(std::span<char const* const> arguments)
    {
        if (merge_->parsed())
            return merging_;
        if (report_->parsed())
            return reporting_;
        if (probe_->parsed()) {
            check(asking_);
            return asking_;
        }
        if (compare_->parsed()) {
            do_compare wish = comparing_.make();
            wish.command = typed(arguments);
            return wish;
        }
        if (serve_->parsed())
            return serving_.make();
        if (staircase_->parsed())
            return with_command(climbing_.make(), arguments);
        if (transfer_->parsed())
            return with_command(moving_.make(), arguments);
        if (idle_->parsed())
            return with_command(holding_.make(), arguments);
        do_load wish = loading_.make();
        wish.command = typed(arguments);
        return wish;
    }

private:
    CLI::App *load_, *staircase_, *transfer_, *idle_, *probe_, *merge_, *report_, *compare_,
        *serve_;
    load_words loading_;
    staircase_words climbing_;
    transfer_words moving_;
    idle_words holding_;
    do_probe asking_;
    do_merge merging_;
    do_report reporting_;
    compare_words comparing_;
    serve_words serving_;
};

} // namespace

command parse_command_line(std::span<char const* const> arguments)
{
    CLI::App app{"cleat-bench finds out what a TLS server can do, and lays servers side by side."};
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text);
    app.footer(epilogue);
    subcommands all{app};

    if (auto complaint = unknown_subcommand(app, arguments))
        return do_print{std::move(*complaint), 2};
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        for (CLI::App const* const each : app.get_subcommands())
            refuse_empty_words(*each);
        return all.chosen(arguments);
    } catch (CLI::Success const& asked) {
        // --help and --version, of the program or of a subcommand.
        if (dynamic_cast<CLI::CallForVersion const*>(&asked) != nullptr)
            return do_print{asked.what(), 0};
        for (CLI::App* const each : app.get_subcommands())
            return do_print{each->help("cleat-bench"), 0};
        return do_print{app.help(), 0};
    } catch (CLI::ParseError const& wrong) {
        return do_print{fmt::format("cleat-bench: {}\nTry: cleat-bench --help\n", wrong.what()), 2};
    } catch (std::runtime_error const& wrong) {
        return do_print{fmt::format("cleat-bench: {}\n", wrong.what()), 2};
    }
}

} // namespace cleat::bench
