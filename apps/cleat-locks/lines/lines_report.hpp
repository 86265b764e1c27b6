// lines_report: moved cache lines for people and for programs.

#pragma once

#include "lines/line_moves.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cleat::locks {

/// lines_view is how a report shows them.
struct lines_view
{
    std::optional<std::uint64_t> operations; ///< Of the counted part: figures are also for each.
    std::size_t most = 12;                   ///< Rows.
};

/// lines_text is the report: what moved, between which threads, and by which code.
[[nodiscard]] std::string lines_text(line_moves const& found, lines_view const& view);

/// to_json has all rows. docs/reference/locks.md names every key.
[[nodiscard]] boost::json::object to_json(line_moves const& found, lines_view const& view);

} // namespace cleat::locks
