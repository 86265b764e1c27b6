// report_text: a profile for people.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::locks {

/// report_text is the whole report: processes, three shares, locks, call stacks, the inverted tree,
/// threads, and limits of the recording. At most `most` rows of each.
[[nodiscard]] std::string report_text(profile const& recorded, std::size_t most);

/// end_text says how a process of the profile ended, or "still runs"; empty: it ended by itself. A
/// process that executed another program has several entries with one number.
[[nodiscard]] std::string end_text(profile const& recorded, process_note const& process);

/// cut_short says how much of a process is missing since its file was cut; empty: it is complete.
[[nodiscard]] std::string cut_short(process_note const& process);

/// lost_text says how much of a process found no room in its trace; empty: all of it did.
[[nodiscard]] std::string lost_text(process_note const& process);

/// changed_text names files that have changed since the recording, in one line; empty: none.
[[nodiscard]] std::string changed_text(profile const& recorded);

/// lifetimes_text says that shares of the threads' time are upper bounds, where it is not known
/// when a process ended; empty: all ends are known.
[[nodiscard]] std::string lifetimes_text(profile const& recorded);

/// heading_text is the report's first lines: processes and CPU time.
[[nodiscard]] std::string heading_text(profile const& recorded);

} // namespace cleat::locks
