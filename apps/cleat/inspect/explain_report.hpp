// explain_report: what `cleat explain` prints, for people and for machines.

#pragma once

#include "inspect/explanation.hpp"

#include <span>

namespace cleat::app {

/// print_explanations prints a block for each frontend.
void print_explanations(
    std::span<frontend_explanation const> all, explain_client const& request,
    snapshot const& configuration);

/// print_explanations_json prints the document of docs/reference/explain.md.
void print_explanations_json(
    std::span<frontend_explanation const> all, explain_client const& request,
    snapshot const& configuration);

} // namespace cleat::app
