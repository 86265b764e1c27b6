// report: results as one page for a browser, with everything it needs in it.

#pragma once

#include "json.hpp"
#include "result.hpp"

#include <string>
#include <vector>

namespace cleat::bench {

/// to_html draws results on one page; several are compared as well. The page asks nothing of any
/// network, and whatever names and texts are in the results, none becomes part of its markup.
[[nodiscard]] std::string to_html(std::vector<result> const& results);

/// to_html of comparisons too, which stand before the results: documents of `compare`, of which
/// each has a matrix, and a section for every scenario. Throws std::runtime_error where one is no
/// such document.
[[nodiscard]] std::string to_html(
    std::vector<result> const& results, std::vector<json::value> const& comparisons);

} // namespace cleat::bench
