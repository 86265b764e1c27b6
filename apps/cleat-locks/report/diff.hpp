// diff: what changed between two profiles, by lock and by function.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>

namespace cleat::locks {

/// diff_text compares two profiles: the three shares, then locks and functions with the greatest
/// changes. Two locks are the same if they have the same name and kind; on the heap, if they were
/// made at the same place. Shares of time and of CPU are compared, so the runs may differ in
/// length.
[[nodiscard]] std::string diff_text(profile const& before, profile const& after, std::size_t most);

} // namespace cleat::locks
