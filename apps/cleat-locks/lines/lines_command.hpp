// lines_command: the options of `cleat-locks lines` and what belongs to it.

#pragma once

#include "lines/lines_report.hpp"
#include "lines/lines_run.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

namespace CLI {
class App;
}

namespace cleat::locks {

/// lines_report_request: `cleat-locks lines-report FILE`.
struct lines_report_request
{
    std::filesystem::path file;
    lines_view view;
    std::string json; ///< A file to write; "-" for standard output.
};

/// lines_mark_request: `cleat-locks lines-mark FILE begin`.
struct lines_mark_request
{
    std::filesystem::path file;
    window_edge edge = window_edge::begin;
};

/// lines_flags_request: `cleat-locks lines-flags`.
struct lines_flags_request
{
};

using lines_command =
    std::variant<lines_run_request, lines_report_request, lines_mark_request, lines_flags_request>;

/// lines_options are what CLI11 reads into.
struct lines_options
{
    lines_run_request run;
    lines_report_request report;
    lines_mark_request mark;
    std::string edge;
};

/// add_lines adds the commands. `options` outlives the app.
void add_lines(CLI::App& app, lines_options& options);

/// check_lines refuses what CLI11 accepts: throws CLI::ValidationError.
void check_lines(CLI::App const& app, lines_options const& options);

/// chosen_lines is the command that was given, if it is one of these.
[[nodiscard]] std::optional<lines_command> chosen_lines(
    CLI::App const& app, lines_options const& options);

} // namespace cleat::locks
