// problem_report: the problems of a start, a test or a reload, as lines of text.

#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::app {

/// problem_report_limits bounds a report. A program or an image that is given as a configuration
/// has thousands of mistakes, and a pem-dir may have as many broken files.
struct problem_report_limits
{
    std::size_t errors = 100;
    std::size_t warnings = 20;
    std::size_t line_size = 2000; ///< Bytes.
};

/// in_order sorts problems for their reader: errors first, and of each grade those of one file
/// together, in the order of its lines.
[[nodiscard]] std::vector<problem> in_order(std::vector<problem> problems);

/// problem_report has a line for each problem, in that order. Where some are left out, the lines
/// "and N more errors" and "and N more warnings" say so.
[[nodiscard]] std::vector<std::string> problem_report(
    std::vector<problem> const& problems, problem_report_limits const& limits = {});

} // namespace cleat::app
