#include "compare/compare.hpp"
#include "compare/figures_json.hpp"
#include "compare/measure.hpp"
#include "file_limit.hpp"
#include "report/report.hpp"
#include "result/environment.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "system/files.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include <sched.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

// A preset that is here.
struct present
{
    preset const* what;
    fs::path program;
};

// Threads that are made from now on inherit it.
void run_on(std::vector<int> const& cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int const core : cores)
        CPU_SET(static_cast<std::size_t>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw std::runtime_error{
            fmt::format("--client-cores {}: may not be used here", fmt::join(cores, ","))};
}

std::vector<present> find_servers(do_compare const& wish, comparison& told)
{
    std::vector<present> found;
    for (std::string const& name : wish.servers) {
        preset const* const what = find_preset(name);
        std::optional<fs::path> program = find_program(*what, wish.programs);
        if (program)
            found.push_back({what, std::move(*program)});
        else
            told.absent.emplace_back(name, fmt::format("it is not here: {}", what->install));
    }
    if (found.empty()) {
        std::string cures;
        for (std::string const& name : wish.servers)
            cures += fmt::format("\n  {}: {}", name, find_preset(name)->install);
        throw std::runtime_error{"none of the servers is here:" + cures};
    }
    return found;
}

// contest is a comparison while it runs.
class contest
{
public:
    contest(do_compare const& wish, comparison& told, interruption& stop)
        : wish_{wish}
        , told_{told}
        , stop_{stop}
        , place_{stop.before()}
        , here_{find_servers(wish, told)}
    {
        start_origin();
        for (auto const& [name, why] : told_.absent)
            tell(fmt::format("{} is left out: {}", name, why));
        for (present const& each : here_)
            told_.versions.emplace_back(
                each.what->name, version_of(*each.what, each.program, place_, stop_));
    }

    // All scenarios, A B C A B C.
    void run()
    {
        for (scenario const& what : wish_.scenarios) {
            trial& one = told_.trials.emplace_back();
            one.what = what;
            try {
                run(one);
            } catch (tls::spec_error const& e) {
                one.skipped = fmt::format("this client cannot do it: {}", e.what());
                tell(fmt::format("{}: {}", what.name, one.skipped));
            } catch (interrupted const&) {
                told_.partial = true;
            }
            one.base = choose_base(one, told_.base_asked);
            if (told_.partial)
                return;
        }
    }

private:
    void run(trial& one)
    {
        static_cast<void>(tls::context{client_for(one.what)}); // Whether this client can do it.
        for (present const& each : here_) {
            contender& server = one.servers.emplace_back();
            server.name = each.what->name;
            server.rounds.resize(wish_.rounds);
            if (each.what->one_worker && wish_.workers != 1)
                server.left_out = "left out: it has one worker only";
        }
        find_pace(one);
        if (one.what.rate && !one.asked) {
            one.skipped = "no server's capacity could be measured, and the rate is a part of it";
            return;
        }
        for (unsigned round = 0; round != wish_.rounds; ++round)
            for (std::size_t i = 0; i != here_.size(); ++i)
                run(one, here_[i], one.servers[i], round);
    }

    // A part of what the weakest can do, which is measured in a closed loop: everybody has room.
    void find_pace(trial& in)
    {
        if (!in.what.rate)
            return;
        asked_rate const wanted = *in.what.rate;
        if (!wanted.of_weakest) {
            in.asked = pace{wanted.value, {}, 0};
            return;
        }
        pace found;
        for (std::size_t i = 0; i != here_.size(); ++i) {
            contender& server = in.servers[i];
            auto const closed_loop = measure_once({in.what, {}}, here_[i], server, "its capacity");
            server.capacity = closed_loop ? (*closed_loop)[metric::rate] : std::nullopt;
            if (!server.capacity)
                continue;
            tell(fmt::format(
                "{}: {}: {:.0f}/s at most", in.what.name, server.name, *server.capacity));
            if (found.weakest.empty() || *server.capacity < found.capacity)
                found = {*server.capacity * wanted.value, server.name, *server.capacity};
        }
        if (!found.weakest.empty())
            in.asked = found;
    }

    void run(trial const& in, present const& one, contender& into, unsigned round)
    {
        asked_of const asked{
            in.what, in.asked ? std::optional{in.asked->rate} : std::nullopt, round + 1};
        std::optional<round_figures> found =
            measure_once(asked, one, into, fmt::format("round {}", round + 1));
        if (!found)
            return;
        found->load.environment = told_.environment;
        found->load.command = told_.command;
        found->load.name = fmt::format("{}: {}, round {}", in.what.name, into.name, round + 1);
        tell_round(in, into, *found, round);
        into.rounds[round] = std::move(found);
    }

    // One server starts, is measured and ends. Nothing: it is left out, or this turn does not
    // count; the contender says why.
    std::optional<round_figures> measure_once(
        asked_of const& asked, present const& one, contender& into, std::string const& which)
    {
        if (stop_.asked())
            throw interrupted{};
        if (!into.left_out.empty())
            return std::nullopt;
        try {
            if (origin_->process.ended())
                start_origin();
            server on = start(asked.what, one);
            into.command = on.command;
            into.config = on.config;
            round_figures found = measure(asked, on, wish_.client_cores.size(), stop_);
            if (std::optional<std::string> const end = on.process.ended())
                into.complaints.push_back(
                    fmt::format("{}: it {} while it was measured", which, *end));
            if (origin_ended(into, which))
                return std::nullopt;
            if (asked.what.kind != activity::idle && found.load.counts.ok == 0)
                give_up(into, fmt::format("nothing succeeded{}", kinds_of(found)));
            return found;
        } catch (start_failure const& e) {
            if (origin_ended(into, which))
                return std::nullopt;
            if (starts_plainly(one))
                into.left_out = fmt::format("left out: it cannot do this: {}", e.brief);
            else
                give_up(into, fmt::format("it does not start: {}", e.what()));
        } catch (interrupted const&) {
            throw;
        } catch (std::runtime_error const& e) {
            if (origin_ended(into, which))
                return std::nullopt;
            give_up(into, e.what());
        }
        tell(fmt::format("{}: {}: {}", asked.what.name, into.name, into.left_out));
        return std::nullopt;
    }

    void start_origin()
    {
        origin_.reset();
        origin_.emplace(bench::start_origin(wish_.programs, wish_.client_cores, place_, stop_));
    }

    // Without it nothing can succeed, and that is no server's fault.
    bool origin_ended(contender& into, std::string const& which)
    {
        std::optional<std::string> const end = origin_->process.ended();
        if (!end)
            return false;
        into.complaints.push_back(
            fmt::format("{} is not counted: the origin behind the server {}", which, *end));
        tell(fmt::format("{}: {}", into.name, into.complaints.back()));
        return true;
    }

    static void give_up(contender& on, std::string why)
    {
        on.left_out = std::move(why);
        on.at_fault = true;
    }

    static std::string kinds_of(round_figures const& of)
    {
        std::string text;
        for (auto const& [what, count] : of.load.counts.failures)
            text += fmt::format("; {}: {}", name_of(what.stage), what.kind);
        return text;
    }

    server start(scenario const& what, present const& one)
    {
        seat const at{origin_->port, wish_.workers, wish_.server_cores};
        return start_for(what, *one.what, one.program, at, place_, stop_);
    }

    // Whether a server that does not start does so where nothing special is asked of it.
    bool starts_plainly(present const& one)
    {
        try {
            static_cast<void>(start(scenario{}, one));
            return true;
        } catch (start_failure const&) {
            return false;
        }
    }

    void tell(std::string const& text) const
    {
        if (!wish_.quiet)
            complain("{}\n", text);
    }

    void tell_round(
        trial const& in, contender const& of, round_figures const& found, unsigned round) const
    {
        metric const by = judged_by(in.what);
        std::optional<double> const value = found[by];
        std::string words = "nothing succeeded";
        if (value && by == metric::memory)
            words = fmt::format("{:.0f} bytes a connection", *value);
        else if (value && by == metric::p99)
            words = fmt::format("p99 {:.2f} ms", *value / 1e6);
        else if (value)
            words = fmt::format(
                "{:.1f} {} CPU a {}", *value / (moves_bytes(in.what) ? 1e6 : 1e3),
                moves_bytes(in.what) ? "ms" : "us", operation_name(in.what));
        tell(
            fmt::format("{} {}/{}: {}: {}", in.what.name, round + 1, wish_.rounds, of.name, words));
    }

    do_compare const& wish_;
    comparison& told_;
    interruption& stop_;
    workshop place_;
    std::vector<present> here_;
    std::optional<origin> origin_;
};

bool write_all(comparison const& told, do_compare const& wish)
{
    fmt::print("{}", to_text(told));
    std::fflush(stdout);
    try {
        if (!wish.json.empty())
            write_file(wish.json, to_json(told));
        if (!wish.html.empty()) {
            drawable all;
            all.comparisons = {document_of(told)};
            write_file(wish.html, page_for(all));
        }
        return true;
    } catch (std::runtime_error const& e) {
        complain("cleat-bench: {}\n", e.what());
        return false;
    }
}

} // namespace

int compare(do_compare const& wish)
{
    check_writable({wish.json, wish.html, wish.quiet});
    raise_file_limit();
    comparison told;
    told.command = wish.command;
    told.started = std::chrono::system_clock::now();
    told.rounds = wish.rounds;
    told.workers = wish.workers;
    told.server_cores = wish.server_cores;
    told.client_cores = wish.client_cores;
    told.base_asked = wish.base.empty() ? wish.servers.front() : wish.base;
    told.environment = describe_environment();
    interruption stop;
    adopt_orphans();
    run_on(wish.client_cores);
    try {
        contest one{wish, told, stop};
        one.run();
    } catch (interrupted const&) {
        told.partial = true;
    }
    bool const written = write_all(told, wish);
    bool const any =
        std::ranges::any_of(told.trials, [](trial const& each) { return !each.base.empty(); });
    if (told.partial)
        return 130;
    return written && any && told.sound() ? 0 : 1;
}

} // namespace cleat::bench
