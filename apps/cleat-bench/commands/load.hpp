// load: the subcommand, from its request to the written result; and the functions that it shares
// with other subcommands that run a load.

#pragma once

#include "gate/condition.hpp"
#include "generate/load_spec.hpp"
#include "generate/run.hpp"
#include "hosts/hosts_request.hpp"
#include "result/output.hpp"
#include "result/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// load_gate is the conditions that decide whether a run passes, and the files for other tools.
struct load_gate
{
    std::vector<condition> conditions;
    std::optional<result> baseline;
    double tolerance = 0.05;
    std::string junit; ///< Files; empty: none.
    std::string csv;
    std::string prometheus;
};

/// load_request: `cleat-bench load`.
struct load_request
{
    load_spec spec;
    std::vector<fact> asked; ///< The settings in words, for the result.
    std::string name;
    std::string command;
    std::vector<int> server_pids;
    std::optional<std::chrono::system_clock::time_point> start_at;
    bool preflight = true; ///< One transaction first, so that a mistake is reported at once.
    std::string wrong_answer_cure; ///< Where the subcommand itself chose the expected answer.
    bench::output output;
    load_gate gate;
    std::optional<hosts_request> hosts; ///< Set: the load is that of each of these hosts.
    bool as_host = false;               ///< This is one of the hosts.
};

/// files_of are the files that a load writes, of its output and of its gate.
[[nodiscard]] std::vector<named_file> files_of(load_request const& request);

/// finish_load writes a result and judges it, and gives the exit code of `load`: 0; 1 when no
/// transaction succeeded or no result could be written; 3 when a condition of the gate failed; 4
/// when the generator could not keep the rate; 5 when a host of several was lost; 130 when it was
/// interrupted.
[[nodiscard]] int finish_load(load_request const& request, result const& found);

/// begin_result describes the machine, and tries one transaction where the request has a preflight.
/// Throws std::runtime_error.
[[nodiscard]] result begin_result(load_request const& request);

/// run_into runs the load and fills the result: the request, the counts, the CPU of the server's
/// processes and the verdict.
void run_into(result& found, load_request const& request, run_control const& control = {});

/// run_in_view checks that the output can be written, runs the load from begin_result on, and shows
/// its progress unless the output is quiet.
[[nodiscard]] result run_in_view(load_request const& request);

/// write_result prints a result and writes its files. False, and a message, when a file cannot be
/// written.
[[nodiscard]] bool write_result(result const& found, output const& output);

} // namespace cleat::bench
