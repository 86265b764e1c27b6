// figures_json: the JSON document of a comparison, for reports that draw it.

#pragma once

#include "compare/figures.hpp"
#include "text/json.hpp"

namespace cleat::bench {

/// document_of a comparison: to_json writes it.
[[nodiscard]] json::object document_of(comparison const& found);

} // namespace cleat::bench
