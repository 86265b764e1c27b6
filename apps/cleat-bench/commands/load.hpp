// load: the subcommand, from a wish to a written result.

#pragma once

#include "commands/command_line.hpp"
#include "commands/live_view.hpp"
#include "generate/run.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

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

/// check_writable says before a run what would be found out after it: that a file cannot be
/// written. Throws std::runtime_error.
void check_writable(output const& to);

/// same_file: both names are of one file.
[[nodiscard]] bool same_file(std::string const& one, std::string const& other);

/// keep_from refuses to write a file over one that is to be read. Throws std::runtime_error.
void keep_from(
    std::vector<std::string> const& read, std::string const& option, std::string const& written);

/// write_file replaces a file. Throws std::runtime_error that names it.
void write_file(std::string const& path, std::string const& text);

/// read_file gives a file's bytes. Throws std::runtime_error that names it.
[[nodiscard]] std::string read_file(std::string const& path);

/// read_result reads the file of a load's result. Throws std::runtime_error, also of a staircase
/// or a transfer.
[[nodiscard]] result read_result(std::string const& path);

} // namespace cleat::bench
