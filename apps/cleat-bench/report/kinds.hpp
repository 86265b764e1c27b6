// report_kinds: what the report's page draws of the documents that are no plain load's, made from
// the documents alone. All throw std::runtime_error that says what is missing, or is not what it
// should be.

#pragma once

#include "text/json.hpp"

#include <string>

namespace cleat::bench {

/// extras_of is what a document has beside a load's result: a staircase's `steps`, `highest` and
/// `knee`, and a transfer's figures. Empty for a load.
[[nodiscard]] json::object extras_of(json::value const& document);

/// idle_page_of is a document of `idle`, as the page wants it.
[[nodiscard]] json::object idle_page_of(json::value const& document);

/// probe_page_of is a document of `probe`, as the page wants it: of each host, its facts as pairs.
[[nodiscard]] json::object probe_page_of(json::value const& document);

/// title_of_idle and title_of_probe name one for the page's title.
[[nodiscard]] std::string title_of_idle(json::value const& document);
[[nodiscard]] std::string title_of_probe(json::value const& document);

} // namespace cleat::bench
