// output: where a subcommand puts its results.

#pragma once

#include <string>

namespace cleat::bench {

/// output is the files of a result, which also goes to the terminal.
struct output
{
    std::string json;   ///< File; empty: none.
    std::string html;   ///< The report's file; empty: none.
    bool quiet = false; ///< No live view.
};

/// check_writable finds out before a run whether its files can be written. Throws usage_error if
/// they are no two files, std::runtime_error if one cannot be written.
void check_writable(output const& output);

} // namespace cleat::bench
