// figures_json: a comparison's document before it is text, for reports that draw it.

#pragma once

#include "compare/figures.hpp"
#include "text/json.hpp"

namespace cleat::bench {

/// document_of is what to_json writes.
[[nodiscard]] json::object document_of(comparison const& of);

} // namespace cleat::bench
