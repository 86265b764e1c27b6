#include "commands/live_view.hpp"
#include "commands/load.hpp"
#include "file_limit.hpp"
#include "generate/run.hpp"
#include "report/report.hpp"
#include "result/environment.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"
#include "system/processes.hpp"
#include "text/json.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <vector>

namespace cleat::bench {
namespace {

// An answer beyond this is known by what its head says of it: to take all of it would be a part of
// the run that nobody asked for.
constexpr std::uint64_t answer_whole_max = 64 * 1024;

// What to do about a failure that the first transaction had already.
std::string cure_for(failure const& what, do_load const& wish)
{
    bool const wrong_answer = what.kind.starts_with("wrong status") ||
                              what.kind == "short answer" || what.kind == "long answer";
    if (wrong_answer && !wish.wrong_answer_cure.empty())
        return wish.wrong_answer_cure;
    if (what.kind == "refused")
        return "nothing listens there: check the address, and that the server runs";
    if (what.kind == "not TLS")
        return "the server does not speak TLS on this port";
    if (what.kind == "certificate")
        return "the server's certificate does not verify: give its authority with --ca, or leave "
               "--verify out";
    bool const may_be_h2 = std::ranges::count(wish.use.tls.alpn, "h2") != 0;
    if (may_be_h2 && what.where == stage::answer)
        return "this client speaks HTTP/1.1: leave h2 out of --alpn";
    if (what.kind.starts_with("wrong status"))
        return "check the path, or say what to expect with --expect-status";
    if (what.kind == "short answer" || what.kind == "long answer")
        return "check --expect-size";
    if (what.kind == "alert certificate_required")
        return "the server asks for a certificate of the client's: give one with --cert, and its "
               "key "
               "with --key";
    if (what.kind.starts_with("alert"))
        return "the server refuses this offer: check --tls, --groups, --ciphers, "
               "--signature-algorithms and --sni";
    if (what.kind == unfinished)
        return "it was not over when the time of all stages was: ask for less, or allow more with "
               "--answer-timeout";
    if (what.kind == "timeout")
        return "the server does not answer: check the address, or allow more time";
    if (what.kind == "no ports")
        return "this machine has no port left for the target: use more source addresses (--source)";
    if (what.kind == "in-flight limit")
        return "allow more with --in-flight";
    return "see whether `cleat-bench probe` can tell more";
}

// One transaction before the run: whoever misspelt something waits for no timeout of thousands.
void try_once(do_load const& wish)
{
    load_spec one = wish.use;
    one.arrive = closed{1};
    one.say.requests = 1;
    one.transactions = 1;
    one.workers = 1;
    one.warm_up = {};
    if (one.say.http && one.say.size && *one.say.size > answer_whole_max) {
        one.say.until_head = true;
        one.end = ending::reset; // What the server has to say yet is not for us.
    }
    // Who drips misses no timeout, ever.
    std::chrono::milliseconds const limit =
        one.timeouts.connect + one.timeouts.handshake + one.timeouts.answer;
    one.duration = std::chrono::hours{1};
    conduct how;
    how.every = std::chrono::milliseconds{100};
    how.watch = [limit](glimpse const& seen) {
        return seen.since_begin < limit ? proceed::on : proceed::stop;
    };
    ended_run const run = run_load(one, how);
    if (run.interrupted)
        throw interrupted{};
    for (auto const& [what, count] : run.counts.failures)
        throw std::runtime_error{fmt::format(
            "{}: the first transaction failed ({}: {}): {} (--no-preflight runs all the same)",
            one.target, name_of(what.where), what.kind, cure_for(what, wish))};
}

} // namespace

bool finish_with(result const& found, output const& to)
{
    fmt::print("{}", to_text(found));
    std::fflush(stdout);
    try {
        if (!to.json.empty())
            write_file(to.json, to_json(found));
        if (!to.html.empty())
            write_file(to.html, to_html({found}));
        return true;
    } catch (std::runtime_error const& e) {
        complain("cleat-bench: {}\n", e.what());
        return false;
    }
}

result read_result(std::string const& path)
{
    std::string const text = read_file(path);
    result found = from_json(text, path);
    // They are loads too, with more that would be lost.
    json::value const document = json::parse(text);
    for (char const* const more : {"steps", "transfer"})
        if (document.as_object().contains(more))
            throw std::runtime_error{fmt::format(
                "{}: it is a {}'s result, which does not add up: merge what `load` wrote", path,
                std::string_view{more} == "steps" ? "staircase" : more)};
    return found;
}

result begin_result(do_load const& wish)
{
    raise_file_limit();
    result found;
    found.environment = describe_environment();
    if (wish.preflight)
        try_once(wish);
    return found;
}

void run_into(result& found, do_load const& wish, conduct const& how)
{
    conduct with_server = how;
    with_server.server_pids = wish.server_pids;
    ended_run run = run_load(wish.use, with_server);

    found.name = wish.name.empty() ? wish.use.target : wish.name;
    found.command = wish.command;
    found.target = wish.use.target;
    found.asked = wish.asked;
    found.started = run.started;
    found.measured = run.measured;
    found.drain = run.drain;
    found.partial = run.partial;
    if (auto const* const loop = std::get_if<open>(&wish.use.arrive))
        found.rate_asked = rate_asked(wish.use);
    found.counts = std::move(run.counts);
    take_workers(found, run.workers);
    if (!wish.server_pids.empty())
        found.server = server_side{wish.server_pids, run.server_cpu, run.server_cores};
    found.verdict = judge(found);
}

conduct conduct_for(do_load const& wish, std::optional<live_view>& view)
{
    conduct how;
    how.start_at = wish.start_at;
    if (view) {
        how.watch = [&view](glimpse const& seen) {
            view->show(seen);
            return proceed::on;
        };
        if (!live_view::on_terminal())
            how.every = std::chrono::seconds{5};
    }
    return how;
}

int load(do_load const& wish)
{
    check_writable(wish.to);
    result found = begin_result(wish);
    std::optional<live_view> view;
    if (!wish.to.quiet)
        view.emplace(wish.use, wish.server_pids);
    run_into(found, wish, conduct_for(wish, view));
    view.reset();
    if (!finish_with(found, wish.to))
        return 1;
    return found.partial ? 130 : found.counts.ok == 0 ? 1 : 0;
}

} // namespace cleat::bench
