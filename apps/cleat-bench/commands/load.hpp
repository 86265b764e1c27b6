// load: the subcommand, from a wish to a written result.

#pragma once

#include "commands/live_view.hpp"
#include "generate/load_spec.hpp"
#include "generate/run.hpp"
#include "result/output.hpp"
#include "result/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// do_load: `cleat-bench load`.
struct do_load
{
    load_spec use;
    std::vector<fact> asked; ///< The settings in words, for the result.
    std::string name;
    std::string command;
    std::vector<int> server_pids;
    std::optional<std::chrono::system_clock::time_point> start_at;
    bool preflight = true; ///< One transaction first, so that what cannot work is told at once.
    std::string wrong_answer_cure; ///< Where the subcommand itself says what to expect.
    output to;
};

/// load runs it and gives the exit code: 0, 1 when nothing succeeded or nothing could be begun, 130
/// when it was interrupted.
int load(do_load const& wish);

/// begin_result describes the machine, and tries one transaction first, so that what cannot work is
/// told at once. Throws std::runtime_error.
[[nodiscard]] result begin_result(do_load const& wish);

/// run_into runs the load, and puts what was asked and what came of it into a result: with the CPU
/// of the server's processes meanwhile, and its verdict.
void run_into(result& found, do_load const& wish, conduct const& how = {});

/// conduct_for shows a run while it lasts, where there is a view, which must outlive it.
[[nodiscard]] conduct conduct_for(do_load const& wish, std::optional<live_view>& view);

/// finish_with prints a result and writes it where it is to go. False, and a message, when a file
/// cannot be written.
[[nodiscard]] bool finish_with(result const& found, output const& to);

/// read_result reads the file of a load's result. Throws std::runtime_error, also of a staircase
/// or a transfer.
[[nodiscard]] result read_result(std::string const& path);

} // namespace cleat::bench
