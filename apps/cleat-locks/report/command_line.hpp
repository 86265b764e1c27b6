// command_line: the commands and options of cleat-locks.

#pragma once

#include "lines/lines_command.hpp"
#include "report/attach.hpp"
#include "report/folded.hpp"
#include "report/run.hpp"
#include "report/window.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace cleat::locks {

/// trace_selection is a trace to read, or one process of it.
struct trace_selection
{
    std::filesystem::path trace;
    std::optional<int> pid; ///< One process of it; otherwise all.
};

/// report_request: `cleat-locks report TRACE`.
struct report_request
{
    trace_selection selection;
    std::size_t most = 12;
    std::string json; ///< A file to write; "-" for standard output.
    std::string pprof;
};

/// diff_request: `cleat-locks diff BEFORE AFTER`.
struct diff_request
{
    trace_selection before;
    trace_selection after;
    std::size_t most = 12;
};

/// folded_request: `cleat-locks folded TRACE`.
struct folded_request
{
    trace_selection selection;
    measure measured = measure::blocked;
};

/// html_request: `cleat-locks html TRACE`.
struct html_request
{
    trace_selection selection;
    std::string out;
    std::optional<std::uint64_t> operations;
};

/// per_operation_request: `cleat-locks per-operation TRACE --operations N`.
struct per_operation_request
{
    trace_selection selection;
    std::uint64_t operations = 0;
    std::size_t most = 12;
    std::string json;
};

/// mark_request: `cleat-locks mark TRACE begin`.
struct mark_request
{
    std::filesystem::path trace;
    window_edge edge = window_edge::begin;
};

/// print_request: a text and an exit code, for help, the version and usage errors.
struct print_request
{
    std::string text;
    int exit_code = 0;
};

using command = std::variant<
    run_request, report_request, diff_request, folded_request, html_request, per_operation_request,
    mark_request, attach_request, lines_run_request, lines_report_request, lines_mark_request,
    lines_flags_request, print_request>;

/// parse_command_line reads a whole command line, the program's name first.
[[nodiscard]] command parse_command_line(std::span<char const* const> arguments);

} // namespace cleat::locks
