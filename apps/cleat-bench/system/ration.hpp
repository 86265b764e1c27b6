// ration: how much CPU a server may use, on the command line.

#pragma once

#include <cstddef>
#include <string>

namespace cleat::bench {

/// parse_ration reads --server-cpu: cores, like 0.3, or percent of one, like 30%. At most as many
/// as the server has. Throws usage_error with the cure.
[[nodiscard]] double parse_ration(std::string const& text, std::size_t cores);

} // namespace cleat::bench
