// report: results as one page for a browser, with everything it needs in it.

#pragma once

#include "result.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// to_html draws results on one page; several are compared as well. The page asks nothing of any
/// network, and whatever names and texts are in the results, none becomes part of its markup.
[[nodiscard]] std::string to_html(std::vector<result> const& results);

} // namespace cleat::bench
