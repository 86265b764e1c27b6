// report_files: the files that a report is made of.

#pragma once

#include "json.hpp"
#include "result.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// drawable is what one page shows.
struct drawable
{
    std::vector<result> results;          ///< Of load, staircase, transfer and merge.
    std::vector<json::value> comparisons; ///< Documents of compare.
};

/// add_document takes the text of a file that `--json` wrote, whichever of the two it is. Throws
/// std::runtime_error that names origin and cure.
void add_document(drawable& to, std::string const& text, std::string const& origin);

} // namespace cleat::bench
