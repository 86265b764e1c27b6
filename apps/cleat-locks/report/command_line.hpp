// command_line: what cleat-locks is asked for.

#pragma once

#include "report/folded.hpp"
#include "report/run.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace cleat::locks {

/// from is which trace is read.
struct from_trace
{
    std::filesystem::path trace;
    std::optional<int> pid; ///< One process of it; otherwise all.
};

/// do_report: `cleat-locks report TRACE`.
struct do_report
{
    from_trace from;
    std::size_t most = 12;
    std::string json; ///< A file to write; "-" for standard output.
    std::string pprof;
};

/// do_diff: `cleat-locks diff BEFORE AFTER`.
struct do_diff
{
    from_trace before;
    from_trace after;
    std::size_t most = 12;
};

/// do_folded: `cleat-locks folded TRACE`.
struct do_folded
{
    from_trace from;
    measure what = measure::blocked;
};

/// do_html: `cleat-locks html TRACE`.
struct do_html
{
    from_trace from;
    std::string out;
    std::optional<std::uint64_t> operations;
};

/// do_per_operation: `cleat-locks per-operation TRACE --operations N`.
struct do_per_operation
{
    from_trace from;
    std::uint64_t operations = 0;
    std::size_t most = 12;
    std::string json;
};

/// do_print: a text and an exit code, for help, the version and what cannot be understood.
struct do_print
{
    std::string text;
    int exit_code = 0;
};

using command =
    std::variant<run_wish, do_report, do_diff, do_folded, do_html, do_per_operation, do_print>;

/// parse_command_line reads a whole command line, the program's name first.
[[nodiscard]] command parse_command_line(std::span<char const* const> arguments);

} // namespace cleat::locks
