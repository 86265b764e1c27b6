// report_json: a profile for programs. docs/reference/locks.md names every key.

#pragma once

#include "report/per_operation.hpp"
#include "report/profile.hpp"

#include <boost/json/object.hpp>

namespace cleat::locks {

/// to_json has all figures of the report, and all stacks.
[[nodiscard]] boost::json::object to_json(profile const& recorded);

[[nodiscard]] boost::json::object to_json(operation_prices const& prices);

} // namespace cleat::locks
