// off_cpu_text: the time that threads were off the CPU, for people.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cleat::locks {

/// off_cpu_kinds divides the time that no lock explains by what threads waited in, the most first:
/// "futex", "epoll_wait", "conditions", "not sampled".
[[nodiscard]] std::vector<std::pair<std::string, double>> off_cpu_kinds(profile const& recorded);

/// off_cpu_heading is the line below the shares.
[[nodiscard]] std::string off_cpu_heading(profile const& recorded);

/// off_cpu_table has at most `most` rows, a thread and a place each; empty: there are none.
[[nodiscard]] std::string off_cpu_table(profile const& recorded, std::size_t most);

} // namespace cleat::locks
