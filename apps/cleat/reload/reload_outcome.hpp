// reload_outcome: how a reload has ended.

#pragma once

#include "reload/changes.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

struct reload_outcome
{
    bool done = false;    ///< All workers have the new configuration; else nothing has changed.
    bool is_final = true; ///< False: it was refused, and another one will follow by itself.
    std::vector<problem> problems{}; ///< Where it is done, warnings only.
    configuration_changes changes{};
    std::shared_ptr<watch_plan const>
        watched{}; ///< The files that it names, also where it is refused.
    std::chrono::milliseconds took{};
};

/// to_text is the outcome for the operator, in lines.
[[nodiscard]] std::string to_text(reload_outcome const& outcome);

} // namespace cleat::app
