// command_line: from the arguments of the program to a request.

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

/// merge_request: `cleat-bench merge A.json B.json`.
struct merge_request
{
    std::vector<std::string> files;
    std::string name;
    bench::output output;
};

/// report_request: `cleat-bench report A.json B.json --out FILE`.
struct report_request
{
    std::vector<std::string> files;
    std::string out;
};

/// print_request: print a text and end with the exit code; on stderr where that is not 0.
struct print_request
{
    std::string text;
    int exit_code = 0;
};

using command = std::variant<
    load_request, staircase_request, transfer_request, idle_request, probe_request, merge_request,
    report_request, print_request, compare_request, serve_request>;

/// parse_command_line reads a whole command line, the program's name first. It resolves names and
/// reads files, so that their mistakes are found here.
[[nodiscard]] command parse_command_line(std::span<char const* const> arguments);

} // namespace cleat::bench
