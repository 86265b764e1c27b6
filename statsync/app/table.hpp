// table: plans, matches and tracks as text.

#pragma once

#include "sync/plan.hpp"

#include <ostream>

namespace statsync {

/// print_plan prints a line for each value that would be written, and for each value in conflict
/// that nothing settles, at most of so many tracks; then how many there are.
void print_plan(
    std::ostream& out, plan const& made, provider_list const& providers, std::size_t rows_max);

/// print_matches prints the compared fields, the numbers, and tracks that are unique or excluded.
void print_matches(
    std::ostream& out, match_result const& matches, provider_list const& providers,
    std::size_t rows_max);

/// print_track prints a track and its statistics in one line.
void print_track(std::ostream& out, track const& one);

/// counted: "1 track", "2 tracks".
std::string counted(std::size_t count, std::string const& noun);

} // namespace statsync
