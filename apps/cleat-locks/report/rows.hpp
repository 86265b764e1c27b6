// rows: the rows of a table that are shown, and how many are not.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cleat::locks {

/// first_rows gives the first rows of a table, at most this many.
template <class Row>
[[nodiscard]] std::span<Row const> first_rows(std::vector<Row> const& rows, std::size_t most)
{
    return std::span{rows}.first(std::min(rows.size(), most));
}

/// more_text is a line that says how many of `count` rows are not among the first; empty: none.
[[nodiscard]] inline std::string more_text(std::size_t count, std::size_t most)
{
    return count > most ? fmt::format("        and {} more (--top {})\n", count - most, count) : "";
}

} // namespace cleat::locks
