// report_text: a profile for people.

#pragma once

#include "report/profile.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace cleat::locks {

/// report_text is the whole report: what ran, three shares, locks, call stacks, the inverted tree,
/// threads, and what cannot be seen. At most `most` rows of each.
[[nodiscard]] std::string report_text(profile const& recorded, std::size_t most);

/// end_text says how a process of the profile ended, where that is not by itself: "still runs".
/// After an exec it has its number still.
[[nodiscard]] std::string_view end_text(profile const& recorded, process_note const& process);

/// cut_short says how much of a process is missing since its file was cut; empty: nothing is.
[[nodiscard]] std::string cut_short(process_note const& process);

/// changed_text says which files have changed since the recording, in one line; empty: none.
[[nodiscard]] std::string changed_text(profile const& recorded);

/// lifetimes_text says what shares of the threads' time are worth where it is not known when a
/// process ended; empty: all is known.
[[nodiscard]] std::string lifetimes_text(profile const& recorded);

/// heading_text is its first lines.
[[nodiscard]] std::string heading_text(profile const& recorded);

} // namespace cleat::locks
