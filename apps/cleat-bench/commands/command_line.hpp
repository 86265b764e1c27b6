// command_line: from words to what the program shall do.

#pragma once

#include "compare/compare.hpp"
#include "compare/serve.hpp"
#include "generate/load_spec.hpp"
#include "result/result.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cleat::bench {

/// output is where results go beside the terminal.
struct output
{
    std::string json; ///< File; empty: none.
    std::string html; ///< The report's file; empty: none.
    bool quiet = false;
};

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

/// do_staircase: `cleat-bench staircase`: a load whose phases are the steps.
struct do_staircase
{
    do_load load;
};

/// do_transfer: `cleat-bench transfer`: a load of a fixed number of messages.
struct do_transfer
{
    do_load load;
    std::uint64_t size = 0; ///< Of a message.
    bool up = false;
    bool down = false;
};

/// do_idle: `cleat-bench idle`: connections that are opened and held.
struct do_idle
{
    do_load load;
    std::vector<unsigned> counts; ///< Ascending.
    std::chrono::nanoseconds settle{};
};

/// do_probe: `cleat-bench probe`.
struct do_probe
{
    std::vector<std::string> targets;
    std::string authorities; ///< A file; empty: the system's.
    std::string name;
    std::string timeout = "5s";
    unsigned parallel = 8; ///< Hosts at a time.
    std::string json;
    bool strict = false;
};

/// do_merge: `cleat-bench merge A.json B.json`.
struct do_merge
{
    std::vector<std::string> files;
    std::string name;
    output to;
};

/// do_report: `cleat-bench report A.json B.json --out FILE`.
struct do_report
{
    std::vector<std::string> files;
    std::string out;
};

/// do_print: print a text and end with the exit code; to stderr where it is not 0.
struct do_print
{
    std::string text;
    int exit_code = 0;
};

using command = std::variant<
    do_load, do_staircase, do_transfer, do_idle, do_probe, do_merge, do_report, do_print,
    do_compare, do_serve>;

/// parse_command_line reads a whole command line, the program's name first. Names are resolved and
/// files read, so what cannot be used is found here.
[[nodiscard]] command parse_command_line(std::span<char const* const> arguments);

} // namespace cleat::bench
