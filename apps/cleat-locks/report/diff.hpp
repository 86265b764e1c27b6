// diff: what changed between two profiles, by lock and by function.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>

namespace cleat::locks {

/// diff_text lays the second beside the first: the three shares, then locks and functions with the
/// greatest changes. Locks are the same if they have the same name and kind;
/// those on the heap by where they were made. Shares of time and of CPU are compared, so the two
/// runs need not be as long as each other.
[[nodiscard]] std::string diff_text(profile const& before, profile const& after, std::size_t most);

} // namespace cleat::locks
