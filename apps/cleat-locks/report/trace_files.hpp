// trace_files: the files of a recording, by their names: PID.trace for each process (PID.2.trace of
// the second program that it ran), and PID.maps, PID.waits, PID.begin and PID.end beside it.

#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace cleat::locks {

/// trace_files gives the traces in a folder, in no order; none, and an error, where it cannot be
/// read.
[[nodiscard]] std::vector<std::filesystem::path> trace_files(
    std::filesystem::path const& folder, std::error_code& ec);

/// trace_name is what the name of a trace says.
struct trace_name
{
    int pid = 0;
    unsigned run = 1; ///< 2: the second program that the process ran.
};
[[nodiscard]] trace_name parse_trace_name(std::filesystem::path const& trace);

/// beside is the file of a trace with another extension, as ".maps".
[[nodiscard]] std::filesystem::path beside(
    std::filesystem::path const& trace, std::string_view extension);

} // namespace cleat::locks
