// holders_text: deadlocks, who held a lock while others waited, and locks in both orders, for
// people.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>

namespace cleat::locks {

/// Each is empty where there is none.
[[nodiscard]] std::string deadlocks_text(profile const& recorded);
[[nodiscard]] std::string waits_for_text(profile const& recorded, std::size_t most);
[[nodiscard]] std::string inversions_text(profile const& recorded, std::size_t most);

} // namespace cleat::locks
