#include "command_line.hpp"
#include "compare/compare_words.hpp"
#include "lists.hpp"
#include "load_words.hpp"
#include "times.hpp"

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

constexpr char const* staircase_epilogue =
    "\nExamples:\n"
    "  cleat-bench staircase localhost:8443                100/s, 200/s, ... until it breaks\n"
    "  cleat-bench staircase --from 500 --to 5000 --step 500 --hold 10s --reuse 4 --html s.html "
    "\\\n"
    "      localhost:8443                                  as a load appliance does it\n";

constexpr char const* transfer_epilogue =
    "\nExamples:\n"
    "  cleat-bench transfer -s 10M https://localhost:8443/10M       4 connections, 100 messages "
    "each\n"
    "  cleat-bench transfer --direction up -s 1M -m 500 localhost:8443\n"
    "  cleat-bench transfer 8 4 250 10M localhost:8443              threads, connections, "
    "messages, size\n";

constexpr char const* idle_epilogue =
    "\nIt needs --server-pid: the server's processes here, whose memory is measured.\n"
    "\nExamples:\n"
    "  cleat-bench idle --server-pid $(pgrep -o nginx) localhost:8443\n"
    "  cleat-bench idle -n 1000,5000,10000 --server-pid 4711 --source 127.0.0.1-127.0.0.4 \\\n"
    "      localhost:8443\n";

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

// A staircase is an open loop whose phases are its steps.
struct staircase_words
{
    load_words load;
    double from = 100;
    double to = 10'000;
    double step = 100;
    std::string hold = "2s";
    std::string arrivals = "constant";

    void add_to(CLI::App& app)
    {
        app.add_option("--from", from, "rate of the first step, per second")->capture_default_str();
        app.add_option("--to", to, "rate of the last; it ends before where the server breaks")
            ->capture_default_str();
        app.add_option("--step", step, "from each step to the next")->capture_default_str();
        app.add_option("--hold", hold, "how long a step is")->capture_default_str();
        app.add_option("--arrivals", arrivals, "constant gaps, or poisson as of many users")
            ->check(CLI::IsMember({"constant", "poisson"}))
            ->capture_default_str();
        load.add_seed(app);
        load.add_start(app);
        load.add_limits(app);
        load.add_tls(app);
        load.add_exchange(app);
        load.add_output(app);
        load.add_target(app);
        app.footer(staircase_epilogue);
    }

    [[nodiscard]] do_staircase make()
    {
        auto const length = parse_length(hold);
        if (!length || *length < std::chrono::milliseconds{100})
            throw std::runtime_error{
                fmt::format("--hold {}: a length of time, at least 100ms", hold)};
        if (!(from > 0 && step > 0 && to >= from && to <= 1e7) || (to - from) / step > 10'000)
            throw std::runtime_error{fmt::format(
                "--from {} --to {} --step {}: rates go up from more than 0 to at most 10 million, "
                "in "
                "at most 10000 steps",
                from, to, step)};
        if (load.requests > 1)
            throw std::runtime_error{
                "--requests: has no effect here: a step is of new connections, with one request "
                "each; see load --phases"};
        std::string phases;
        for (double rate = from; rate <= to * (1 + 1e-9); rate += step)
            phases += fmt::format("{}{}/{}ns", phases.empty() ? "" : ",", rate, length->count());
        if (load.given("--interval"))
            throw std::runtime_error{
                "--interval: has no effect here: a step has four intervals; choose --hold"};
        load.phases = phases;
        load.arrivals = arrivals;
        // Four points of the timeline for each step.
        load.interval = fmt::format("{}ns", length->count() / 4);
        do_staircase wish{load.make()};
        wish.load.use.by_start = true;
        wish.load.asked.front() = {
            "staircase", fmt::format(
                             "{:g}/s to {:g}/s in steps of {:g}/s, {} each, {}", from, to, step,
                             hold, arrivals)};
        return wish;
    }
};

// THREADS CONNECTIONS MESSAGES SIZE, in the order that the old Asio benchmark has them, or options.
struct transfer_words
{
    load_words load;
    std::vector<std::string> old;
    std::string target;
    unsigned threads = 1;
    unsigned connections = 4;
    unsigned messages = 100;
    std::string size = "1M";
    std::string direction = "down";
    bool echo = false;

    void add_to(CLI::App& app)
    {
        app.add_option("-c,--connections", connections, "at once")->capture_default_str();
        app.add_option("-m,--messages", messages, "on each connection")->capture_default_str();
        app.add_option("-s,--size", size, "of a message: 10M")->capture_default_str();
        app.add_option(
               "--direction", direction,
               "down: GET PATH or /SIZE; up: POST; both: what is sent comes back (an echo server, "
               "no "
               "HTTP)")
            ->check(CLI::IsMember({"down", "up", "both"}))
            ->capture_default_str();
        app.add_option("--path", load.path, "of the request");
        load.add_start(app);
        load.add_limits(app);
        // The old benchmark's word for the same.
        app.remove_option(app.get_option("--workers"));
        app.add_option("-t,--threads,--workers", threads, "of the generator")
            ->capture_default_str();
        load.add_tls(app);
        load.add_output(app);
        app.add_option("--target", target, "HOST:PORT or https://HOST:PORT/PATH");
        app.add_option("words", old, "TARGET, or THREADS CONNECTIONS MESSAGES SIZE with --target")
            ->expected(1, 5);
        app.footer(transfer_epilogue);
    }

    [[nodiscard]] do_transfer make()
    {
        read_old_order();
        auto const bytes = parse_size(size);
        if (!bytes || *bytes == 0)
            throw std::runtime_error{
                fmt::format("--size {}: write a number of bytes like 1024, 16K or 10M", size)};
        if (threads == 0 || connections == 0 || messages == 0)
            throw std::runtime_error{"--threads, --connections and --messages: at least 1 each"};
        do_transfer wish;
        wish.size = *bytes;
        wish.up = direction != "down";
        wish.down = direction != "up";
        load.target = target;
        load.workers = std::to_string(threads);
        load.connections = connections;
        load.requests = messages;
        load.transactions = std::uint64_t{connections} * messages;
        load.duration = "1h";
        std::string cure;
        if (direction == "down") {
            cure = fmt::format(
                "name what has {} bytes with --path, or say its size with --size; the demo origin "
                "has --path /bytes/{}",
                *bytes, *bytes);
            if (load.path.empty())
                load.path = fmt::format("/{}", *bytes);
            load.size = std::to_string(*bytes);
        } else if (direction == "up") {
            cure = "name what takes a POST of that size with --path";
            load.method = "POST";
            load.body_size = std::to_string(*bytes);
        } else {
            cure = "both ways, the server has to send back what it gets";
            if (!load.path.empty())
                throw std::runtime_error{
                    "--path: has no effect here: both ways there is no HTTP; leave it out"};
            if (*bytes > (std::uint64_t{256} << 20))
                throw std::runtime_error{fmt::format("--size {}: at most 256M", size)};
            load.raw = std::string(*bytes, 'x');
            load.size = std::to_string(*bytes);
        }
        wish.load = load.make();
        wish.load.asked.emplace_back(
            "transfer", fmt::format("{}, messages of {}, {} threads", direction, size, threads));
        wish.load.wrong_answer_cure = std::move(cure);
        return wish;
    }

private:
    void read_old_order()
    {
        if (old.size() == 1 || old.size() == 5) {
            if (!target.empty())
                throw std::runtime_error{"the target is given twice"};
            target = old.back();
            old.pop_back();
        }
        if (!old.empty() && old.size() != 4)
            throw std::runtime_error{
                "give THREADS CONNECTIONS MESSAGES SIZE and the target: 8 4 250 10M HOST:PORT"};
        if (target.empty())
            throw std::runtime_error{"the target is missing: add HOST:PORT"};
        if (old.empty())
            return;
        for (char const* const option : {"--threads", "--connections", "--messages", "--size"})
            if (load.given(option))
                throw std::runtime_error{fmt::format(
                    "{}: THREADS CONNECTIONS MESSAGES SIZE say it already; leave it out", option)};
        unsigned* const into[] = {&threads, &connections, &messages};
        for (std::size_t i = 0; i != 3; ++i) {
            auto const number = parse_size(old[i]);
            if (!number || *number == 0 || *number > 1'000'000'000)
                throw std::runtime_error{fmt::format("{}: not a number from 1", old[i])};
            *into[i] = static_cast<unsigned>(*number);
        }
        size = old[3];
    }
};

struct idle_words
{
    load_words load;
    std::string counts = "1000,2000,3000,4000";
    std::string settle = "500ms";

    void add_to(CLI::App& app)
    {
        app.add_option("-n,--counts", counts, "how many connections are held, ascending")
            ->capture_default_str();
        app.add_option(
               "--settle", settle, "how long each level is left alone before it is looked at")
            ->capture_default_str();
        load.add_limits(app);
        load.add_tls(app);
        load.add_exchange(app);
        load.add_output(app);
        load.add_target(app);
        app.footer(idle_epilogue);
    }

    [[nodiscard]] do_idle make()
    {
        do_idle wish;
        for (std::string_view const item : comma_separated(counts)) {
            auto const number = parse_size(item);
            if (!number || *number == 0 || *number > 1'000'000 ||
                (!wish.counts.empty() && *number <= wish.counts.back()))
                throw std::runtime_error{
                    fmt::format("--counts {}: numbers that go up, such as 1000,2000,4000", counts)};
            wish.counts.push_back(static_cast<unsigned>(*number));
        }
        auto const length = parse_length(settle);
        if (!length)
            throw std::runtime_error{fmt::format("--settle {}: a length of time", settle)};
        wish.settle = *length;
        if (load.server_pids.empty())
            throw std::runtime_error{"--server-pid is missing: whose memory is to be measured?"};
        if (wish.counts.empty())
            throw std::runtime_error{"--counts: say how many, such as 1000,2000,4000"};
        for (char const* const option :
             {"--reuse", "--resume-ratio", "--session-ids", "--early-data"})
            if (load.given(option))
                throw std::runtime_error{fmt::format(
                    "{}: has no effect here: connections that are held leave no session to resume; "
                    "leave it out",
                    option)};
        if (load.given("--interval"))
            throw std::runtime_error{
                "--interval: has no effect here: there is no timeline; see --settle"};
        load.connections = wish.counts.back();
        load.connections_option = "--counts";
        load.headers.emplace_back("Connection: keep-alive");
        load.keep_alive = true;
        wish.load = load.make();
        return wish;
    }
};

void check(do_probe const& wish)
{
    auto const timeout = parse_length(wish.timeout);
    if (!timeout || *timeout < std::chrono::milliseconds{1})
        throw std::runtime_error{
            fmt::format("--timeout {}: write a length of time like 5s or 500ms", wish.timeout)};
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
    to.add_option("--sni,--name", asking.name, "name to ask for and to verify; otherwise the host");
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

} // namespace

command parse_command_line(std::span<char const* const> arguments)
{
    CLI::App app{"cleat-bench finds out what a TLS server can do, and lays servers side by side."};
    app.require_subcommand(1);
    app.set_version_flag("--version", version_text);
    app.footer(epilogue);

    load_words loading;
    CLI::App* const load = app.add_subcommand(
        "load", "transactions against one server: a closed loop, or an open one with --rate");
    add_load(*load, loading);

    staircase_words climbing;
    CLI::App* const staircase = app.add_subcommand(
        "staircase", "steps the rate up until the server breaks: its highest rates, and the knee");
    climbing.add_to(*staircase);

    transfer_words moving;
    CLI::App* const transfer =
        app.add_subcommand("transfer", "messages of one size: MB/s and CPU per GB");
    moving.add_to(*transfer);

    idle_words holding;
    CLI::App* const idle =
        app.add_subcommand("idle", "holds connections open: memory of the server for each of them");
    holding.add_to(*idle);

    do_probe asking;
    CLI::App* const probe =
        app.add_subcommand("probe", "what a server chooses and offers, and a verdict in words");
    add_probe(*probe, asking);

    do_merge merging;
    CLI::App* const merge = app.add_subcommand(
        "merge", "add up the results of several generators that ran at the same time");
    add_merge(*merge, merging);

    do_report reporting;
    CLI::App* const report = app.add_subcommand(
        "report", "one HTML file with charts, from results and comparisons; it needs no network");
    add_report(*report, reporting);

    compare_words comparing;
    CLI::App* const compare = app.add_subcommand(
        "compare", "starts servers with equal settings and lays them side by side");
    comparing.add_to(*compare);

    serve_words serving;
    CLI::App* const serve =
        app.add_subcommand("serve", "starts one server as `compare` does, until Ctrl-C");
    serving.add_to(*serve);

    if (auto complaint = unknown_subcommand(app, arguments))
        return do_print{std::move(*complaint), 2};
    try {
        app.parse(static_cast<int>(arguments.size()), arguments.data());
        for (CLI::App const* const each : app.get_subcommands())
            refuse_empty_words(*each);
        if (merge->parsed())
            return merging;
        if (report->parsed())
            return reporting;
        if (probe->parsed()) {
            check(asking);
            return asking;
        }
        if (compare->parsed()) {
            do_compare wish = comparing.make();
            wish.command = typed(arguments);
            return wish;
        }
        if (serve->parsed())
            return serving.make();
        if (staircase->parsed())
            return with_command(climbing.make(), arguments);
        if (transfer->parsed())
            return with_command(moving.make(), arguments);
        if (idle->parsed())
            return with_command(holding.make(), arguments);
        do_load wish = loading.make();
        wish.command = typed(arguments);
        return wish;
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
