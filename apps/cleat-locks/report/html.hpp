// html: a profile as one page that opens from disk and loads nothing.

#pragma once

#include "report/profile.hpp"

#include <string>

namespace cleat::locks {

/// to_html draws locks, flame graphs of each measure, the inverted tree and threads.
[[nodiscard]] std::string to_html(profile const& of);

} // namespace cleat::locks
