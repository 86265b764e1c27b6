// output: where a subcommand puts its results.

#pragma once

#include <string>

namespace cleat::bench {

/// output is where results go beside the terminal.
struct output
{
    std::string json; ///< File; empty: none.
    std::string html; ///< The report's file; empty: none.
    bool quiet = false;
};

/// check_writable says before a run what would be found out after it: that a file cannot be
/// written. Throws std::runtime_error.
void check_writable(output const& to);

} // namespace cleat::bench
