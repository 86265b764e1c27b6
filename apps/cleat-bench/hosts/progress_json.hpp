// progress_json: the progress of a host's load as a line of JSON.

#pragma once

#include "generate/progress.hpp"

#include <string>
#include <string_view>

namespace cleat::bench {

/// to_line has what a live view shows, without a line break. The timelines are not in it.
[[nodiscard]] std::string to_line(progress const& now);

/// progress_from reads it. Throws std::runtime_error.
[[nodiscard]] progress progress_from(std::string_view line);

} // namespace cleat::bench
