// limit_planning: the limits of a configuration, from its settings.

#pragma once

#include "config/config.hpp"
#include "config/problem_list.hpp"
#include "limits/limit_plan.hpp"

#include <cstddef>

namespace cleat::app {

/// plan_limits has the frontends in their order. Limits that so many workers cannot divide are
/// problems. `before` is the plan of the configuration that this one follows; null: there is none.
[[nodiscard]] limit_plan plan_limits(
    config const& settings, std::size_t workers, limit_plan const* before, problem_list& problems);

} // namespace cleat::app
