// command_line: from words to what the program shall do.

#pragma once

#include "commands/idle.hpp"
#include "commands/load.hpp"
#include "commands/staircase.hpp"
#include "commands/transfer.hpp"
#include "compare/compare.hpp"
#include "compare/serve.hpp"
#include "probe/probe_request.hpp"
#include "result/output.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace cleat::bench {

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
