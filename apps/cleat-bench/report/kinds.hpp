// kinds: the data of the report's page for staircases, transfers, idle connections and probes, made
// from their documents. All functions throw std::runtime_error that names a missing or wrong
// member.

#pragma once

#include "text/json.hpp"

#include <string>

namespace cleat::bench {

/// extras_of is the members of a document beside a load's result: `steps`, `highest` and `knee` of
/// a staircase, the figures of a transfer. Empty for a load.
[[nodiscard]] json::object extras_of(json::value const& document);

/// idle_page_of is the page's data of a document of `idle`.
[[nodiscard]] json::object idle_page_of(json::value const& document);

/// probe_page_of is the page's data of a document of `probe`: the facts of each host as pairs.
[[nodiscard]] json::object probe_page_of(json::value const& document);

/// title_of_idle and title_of_probe name the document in the title of the page.
[[nodiscard]] std::string title_of_idle(json::value const& document);
[[nodiscard]] std::string title_of_probe(json::value const& document);

} // namespace cleat::bench
