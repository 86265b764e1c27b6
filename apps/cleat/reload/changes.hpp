// changes: what differs between two configurations, for the log line of a reload.

#pragma once

#include "snapshot/snapshot.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cleat::app {

struct configuration_changes
{
    /// Global keys with another value, in the table's order, and keys whose files have another
    /// content.
    std::vector<std::string> keys;
    std::size_t frontends_added = 0;
    std::size_t frontends_removed = 0;
    std::size_t certificates_added = 0; ///< By the names of their files.
    std::size_t certificates_removed = 0;
    std::size_t certificates_changed = 0;
    std::size_t certificates_skipped = 0; ///< See pem-dir-skip-broken.
};

[[nodiscard]] configuration_changes compare(snapshot const& before, snapshot const& after);

} // namespace cleat::app
