// html: a profile as one page that opens from disk and loads nothing.

#pragma once

#include "report/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cleat::locks {

/// to_html draws locks, flame graphs of each measure, the inverted tree and threads. With the
/// number of `operations`, not zero, it also draws their costs.
[[nodiscard]] std::string to_html(
    profile const& recorded, std::optional<std::uint64_t> operations = std::nullopt);

} // namespace cleat::locks
