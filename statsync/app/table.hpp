// table: plans, matches and tracks as text.

#pragma once

#include "sync/plan.hpp"

#include <ostream>
#include <string>

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

/// title_of: artist, title and album of a matched track.
std::string title_of(track_group const& group, provider_list const& providers);

/// value_line: a player's name and its value of a statistic, in columns.
std::string value_line(std::string const& player, statistics const& values, field one);

/// counted: "1 track", "2 tracks".
std::string counted(std::size_t count, std::string const& noun);

} // namespace statsync
