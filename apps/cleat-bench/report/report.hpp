// report: results as one page for a browser, complete in one file.

#pragma once

#include "result/result.hpp"
#include "text/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::bench {

/// drawable is the content of a page.
struct drawable
{
    std::vector<result> results;          ///< Of load, staircase, transfer and merge.
    std::vector<json::object> extras;     ///< extras_of for each result; may be empty.
    std::vector<json::value> comparisons; ///< Documents of compare.
    std::vector<json::value> idles;       ///< Documents of idle.
    std::vector<json::value> probes;      ///< Documents of probe.

    [[nodiscard]] std::size_t size() const noexcept
    {
        return results.size() + comparisons.size() + idles.size() + probes.size();
    }
};

/// to_html draws results on one page; several are compared as well. The page uses no network, and
/// names and texts in the results cannot become part of its markup.
[[nodiscard]] std::string to_html(std::vector<result> const& results);

/// page_for draws all kinds, comparisons before the results. Throws std::runtime_error for a
/// document with missing or wrong members.
[[nodiscard]] std::string page_for(drawable const& all);

} // namespace cleat::bench
