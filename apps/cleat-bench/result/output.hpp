// output: where a subcommand puts its results.

#pragma once

#include "system/files.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// output is the files of a result, which also goes to the terminal.
struct output
{
    std::string json;   ///< File; empty: none.
    std::string html;   ///< The report's file; empty: none.
    bool quiet = false; ///< No live view.
};

/// files_of an output, with their options.
[[nodiscard]] std::vector<named_file> files_of(output const& output);

/// check_writable finds out before a run whether its files can be written. Throws usage_error if
/// two of them are one file, std::runtime_error if one cannot be written.
void check_writable(std::vector<named_file> const& files);

} // namespace cleat::bench
