// candidate: a new configuration, built and tried out beside the one in service.

#pragma once

#include "reload/changes.hpp"
#include "reload/reload_request.hpp"
#include "workers/worker_group.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

/// candidate has a successor only if no problem is an error.
struct candidate
{
    std::optional<successor> next{};
    configuration_changes changes{};
    std::vector<problem> problems{};             ///< Warnings, too.
    std::shared_ptr<watch_plan const> watched{}; ///< Those that it names, also where it is refused.
};

/// build_candidate reads the configuration and everything that it names anew, tries it out, opens
/// the log and the listening sockets that the present configuration does not have, and makes each
/// worker's part. Nothing of it touches the workers, or the present configuration.
[[nodiscard]] candidate build_candidate(reload_request const& request, worker_group& workers);

} // namespace cleat::app
