#include "commands/live_view.hpp"
#include "commands/load.hpp"
#include "export/figure_list.hpp"
#include "file_limit.hpp"
#include "gate/baseline.hpp"
#include "gate/judgement.hpp"
#include "generate/run.hpp"
#include "report/report.hpp"
#include "result/environment.hpp"
#include "result/output.hpp"
#include "standard_error.hpp"
#include "system/files.hpp"
#include "system/interruption.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

// The exit codes of a run that a condition has failed, and of one at a rate that the generator
// could not keep. The second takes precedence: such figures are the generator's, so that a
// condition that passes says nothing. A lost host takes precedence over both: the load was not the
// one that was asked for.
constexpr int gate_failed = 3;
constexpr int generator_limited = 4;
constexpr int host_lost = 5;

// Of an answer longer than this the preflight takes the head alone: to take all of it would be as
// much work as a part of the run.
constexpr std::uint64_t answer_whole_max = 64 * 1024;

// The cure for a server's certificate that does not verify.
std::string cure_for_certificate(std::string_view kind, std::string const& authorities)
{
    if (kind == "certificate for another name")
        return "ask for a name that the certificate has with --sni (`cleat-bench probe` shows "
               "them), "
               "or leave --verify out";
    if (kind == "certificate expired")
        return "renew it on the server, or leave --verify out";
    if (kind == "certificate not yet valid")
        return "check the clocks of both machines, or leave --verify out";
    if (kind == "certificate of an unknown authority")
        return fmt::format(
            "its chain leads to no authority in {}: name the right file with --ca, see with "
            "`cleat-bench probe` whether the server leaves out an intermediate certificate, or "
            "leave --verify out",
            authorities);
    return "see with `cleat-bench probe` what the server shows, or leave --verify out";
}

// The cure for a failure of the first WebSocket; empty where it is one of any connection.
std::string cure_for_websocket(failure const& what)
{
    if (what.kind.starts_with("refused with status"))
        return "the server opens no WebSocket here: check the path, and give the fields that it "
               "wants, such as Origin, with --header";
    if (what.kind.starts_with("protocol: "))
        return "the server breaks RFC 6455: see its log, and what stands before it";
    if (what.stage == stage::upgrade && what.kind != "timeout" && what.kind != unfinished)
        return "this is no answer of a WebSocket server (RFC 6455, section 4.2.2): check the path, "
               "and what stands before the server";
    if (what.kind == "echo of another type")
        return "the server answers text with binary messages, or these with text: give the other "
               "--message-type";
    if (what.stage == stage::answer && what.kind.starts_with("closed"))
        return "see the server's log: its limit may be below --message-size, or its --message-type "
               "another one";
    if (what.stage == stage::answer && what.kind != "timeout" && what.kind != unfinished)
        return "the server has to send back each message as it came: name an echo service with "
               "--path, or leave out --messages and --keep";
    return {};
}

// The cure for a failure of the first request by HTTP/2; empty where it is one of any request.
std::string cure_for_http2(failure const& what)
{
    if (what.kind.starts_with("no HTTP/2") || what.kind == "alert no_application_protocol")
        return "switch HTTP/2 on at the server ('http2' in nginx, 'alpn h2' in HAProxy), or leave "
               "--http2 out";
    if (what.stage == stage::answer && what.kind.starts_with("protocol: "))
        return "the server breaks RFC 9113: see its log, and what stands before it";
    if (what.kind.find("RST_STREAM ") != std::string::npos ||
        what.kind.find("GOAWAY ") != std::string::npos || what.kind == "no stream allowed")
        return "the server has refused the request: see its log, and RFC 9113, section 7 for the "
               "error code";
    return {};
}

// The cure for a failure of the first transaction.
std::string cure_for_first(failure const& what, load_request const& request)
{
    bool const wrong_answer = what.kind.starts_with("wrong ") || what.kind == "short answer" ||
                              what.kind == "long answer";
    if (wrong_answer && !request.wrong_answer_cure.empty())
        return request.wrong_answer_cure;
    if (what.kind == "refused")
        return fmt::format(
            "nothing listens at {}: check the address, and that the server runs",
            net::to_string(request.spec.address));
    if (what.kind == "not TLS")
        return "the server does not speak TLS on this port";
    if (what.kind.starts_with("certificate"))
        return cure_for_certificate(what.kind, request.spec.tls.verify_origin);
    if (request.spec.http2)
        if (std::string cure = cure_for_http2(what); !cure.empty())
            return cure;
    bool const may_be_h2 =
        !request.spec.http2 && std::ranges::count(request.spec.tls.alpn, "h2") != 0;
    if (may_be_h2 && (what.stage == stage::answer || what.stage == stage::upgrade))
        return "this client speaks HTTP/1.1: leave h2 out of --alpn";
    if (request.spec.websocket)
        if (std::string cure = cure_for_websocket(what); !cure.empty())
            return cure;
    if (what.kind.starts_with("wrong status"))
        return "check the path, or say what to expect with --expect-status";
    if (what.kind == "answer cut off" || what.kind == "truncated")
        return "the server ended the connection before the end of its answer: compare what it "
               "sends "
               "with its Content-Length, and see its log";
    if (what.kind == "wrong body")
        return "it does not have the text of --expect-body: check the path and the text";
    if (what.kind == "short answer" || what.kind == "long answer")
        return "check --expect-size";
    if (what.kind == "alert certificate_required")
        return "the server asks for a certificate of the client's: give one with --cert, and its "
               "key with --key";
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

// One transaction before the run: a mistake in the command line is reported at once, and not after
// the timeouts of thousands of transactions. It is that of one of several paths, by its number.
void try_request(load_request const& request, std::size_t number)
{
    load_spec one = request.spec;
    std::string path;
    if (!one.exchange.by_path.empty()) {
        path = one.exchange.by_path[number].path;
        one.exchange.request = one.exchange.by_path[number].request;
        one.exchange.by_path.clear();
    }
    if (one.http2)
        one.http2->requests = {request.spec.http2->requests[number]};
    one.loop = closed{1};
    one.exchange.requests = 1;
    one.keep = false;
    one.transactions = 1;
    one.workers = 1;
    one.warm_up = {};
    if (one.websocket && one.websocket->use == websocket_use::hold)
        one.websocket->use = websocket_use::open;
    if (one.exchange.http && one.exchange.size && *one.exchange.size > answer_whole_max) {
        one.exchange.until_head = true;
        one.end = ending::reset; // The server may still be sending.
    }
    // A server that sends a byte now and then misses no timeout.
    std::chrono::milliseconds const limit = time_of_all_stages(one);
    one.duration = std::chrono::hours{1};
    run_control control;
    control.period = std::chrono::milliseconds{100};
    control.watch = [limit](progress const& now) {
        return now.since_begin < limit ? proceed::go_on : proceed::stop;
    };
    ended_run const run = run_load(one, control);
    if (run.interrupted)
        throw interrupted{};
    for (auto const& [failure, count] : run.counts.failures)
        throw std::runtime_error{fmt::format(
            "{}: the first transaction{} failed ({}: {}): {} (--no-preflight runs all the same)",
            one.target, path.empty() ? "" : " with " + path, name_of(failure.stage), failure.kind,
            cure_for_first(failure, request))};
}

void try_once(load_request const& request)
{
    std::size_t const all = std::max<std::size_t>(request.spec.exchange.by_path.size(), 1);
    for (std::size_t number = 0; number != all; ++number)
        try_request(request, number);
}

// Shows the progress of a run in the view, where there is one. The view must outlive the run.
run_control control_for(load_request const& request, std::optional<live_view>& view)
{
    run_control control;
    control.start_at = request.start_at;
    if (view) {
        control.watch = [&view](progress const& now) {
            view->show(now);
            return proceed::go_on;
        };
        if (!live_view::has_terminal())
            control.period = std::chrono::seconds{5};
    }
    return control;
}

} // namespace

bool write_result(result const& found, output const& output)
{
    fmt::print("{}", to_text(found));
    std::fflush(stdout);
    try {
        if (!output.json.empty())
            write_file(output.json, to_json(found));
        if (!output.html.empty())
            write_file(output.html, to_html({found}));
        return true;
    } catch (std::runtime_error const& e) {
        complain("cleat-bench: {}\n", e.what());
        return false;
    }
}

result begin_result(load_request const& request)
{
    raise_file_limit();
    result found;
    found.environment = describe_environment();
    if (request.preflight)
        try_once(request);
    return found;
}

void run_into(result& found, load_request const& request, run_control const& control)
{
    run_control with_server = control;
    with_server.server_pids = request.server_pids;
    ended_run run = run_load(request.spec, with_server);

    found.name = request.name.empty() ? request.spec.target : request.name;
    found.command = request.command;
    found.target = request.spec.target;
    found.asked = request.asked;
    found.started = run.started;
    found.measured = run.measured;
    found.drain = run.drain;
    found.partial = run.partial;
    found.rate_asked = rate_asked(request.spec);
    found.counts = std::move(run.counts);
    take_workers(found, run.workers);
    if (!request.server_pids.empty())
        found.server = server_side{request.server_pids, run.server_cpu, run.server_cores};
    found.verdict = judge(found);
}

std::vector<named_file> files_of(load_request const& request)
{
    std::vector<named_file> files = files_of(request.output);
    files.push_back({"--junit", request.gate.junit});
    files.push_back({"--csv", request.gate.csv});
    files.push_back({"--prometheus", request.gate.prometheus});
    return files;
}

result run_in_view(load_request const& request)
{
    check_writable(files_of(request));
    result found = begin_result(request);
    std::optional<live_view> view;
    if (!request.output.quiet)
        view.emplace(request.spec, request.server_pids);
    run_into(found, request, control_for(request, view));
    return found;
}

namespace {

bool is_generator_limited(result const& found)
{
    return found.rate_asked && found.verdict.client_limited();
}

std::vector<judgement> judge_gate(load_gate const& gate, result const& found)
{
    std::vector<judgement> judged;
    if (is_generator_limited(found) && (!gate.conditions.empty() || gate.baseline))
        judged.push_back({"the generator was late", "too busy for this rate", true});
    if (found.hosts_lost() != 0 && (!gate.conditions.empty() || gate.baseline))
        judged.push_back(
            {"a host was lost", fmt::format("{} of {}", found.hosts_lost(), found.hosts.size()),
             true});
    for (condition const& each : gate.conditions)
        judged.push_back(judge_condition(each, found));
    if (gate.baseline)
        for (judgement& each : judge_against(*gate.baseline, found, gate.tolerance))
            judged.push_back(std::move(each));
    return judged;
}

void write_gate(load_gate const& gate, result const& found, std::vector<judgement> const& judged)
{
    if (!judged.empty())
        fmt::print("\n{}", to_text(judged));
    std::fflush(stdout);
    if (!gate.junit.empty())
        write_file(
            gate.junit, to_junit(judged, found.name, in_seconds(found.measured + found.drain)));
    if (!gate.csv.empty())
        write_file(gate.csv, to_csv(found));
    if (!gate.prometheus.empty())
        write_file(gate.prometheus, to_prometheus(found));
}

} // namespace

int finish_load(load_request const& request, result const& found)
{
    if (!write_result(found, request.output))
        return 1;
    std::vector<judgement> const judged = judge_gate(request.gate, found);
    write_gate(request.gate, found, judged);
    if (found.partial)
        return 130;
    if (found.counts.ok == 0)
        return 1;
    if (found.hosts_lost() != 0)
        return host_lost;
    if (is_generator_limited(found))
        return generator_limited;
    return std::ranges::any_of(judged, &judgement::failed) ? gate_failed : 0;
}

} // namespace cleat::bench
