// check_report: what `cleat check` prints, for people and for machines.

#pragma once

#include "inspect/inventory.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// finding_counts are by grade.
using finding_counts = std::array<std::size_t, finding_grade_count>;
[[nodiscard]] finding_counts count_findings(inventory const& all) noexcept;

/// print_blocks prints a block for each certificate, those with the worst findings first, and then
/// the counts. Of more than 100 certificates it prints the 100 with the worst findings, unless
/// `every`.
void print_blocks(inventory const& all, bool every, std::chrono::sys_seconds now);

/// print_json prints the document of docs/reference/check.md.
void print_json(
    inventory const& all, std::span<problem const> problems, std::chrono::sys_seconds now);

} // namespace cleat::app
