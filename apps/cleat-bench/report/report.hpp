// report: results as one page for a browser, with everything it needs in it.

#pragma once

#include "result/result.hpp"
#include "text/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::bench {

/// drawable is what one page shows.
struct drawable
{
    std::vector<result> results;          ///< Of load, staircase, transfer and merge.
    std::vector<json::object> extras;     ///< Of each result what extras_of gives; none: of none.
    std::vector<json::value> comparisons; ///< Documents of compare.
    std::vector<json::value> idles;       ///< Documents of idle.
    std::vector<json::value> probes;      ///< Documents of probe.

    [[nodiscard]] std::size_t size() const noexcept
    {
        return results.size() + comparisons.size() + idles.size() + probes.size();
    }
};

/// to_html draws results on one page; several are compared as well. The page asks nothing of any
/// network, and whatever names and texts are in the results, none becomes part of its markup.
[[nodiscard]] std::string to_html(std::vector<result> const& results);

/// page_for draws all kinds; comparisons stand before the results. Throws std::runtime_error where
/// a document is not what it should be.
[[nodiscard]] std::string page_for(drawable const& all);

} // namespace cleat::bench
