// candidate: a new configuration, built and tried out beside the one in service.

#pragma once

#include "privileged/opener.hpp"
#include "reload/changes.hpp"
#include "sandbox/sandbox.hpp"
#include "workers/worker_group.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// start_facts is what the start of the program leaves to its reloads, which it outlives.
struct start_facts
{
    std::vector<std::string> const& command_line; ///< It names the configuration file.
    std::string const& folder;                    ///< In which the program was started.
    opener const& root_files;
    sandbox const& limits;
};

/// reload_request is what a reload is made from. It is taken on the main thread.
struct reload_request
{
    start_facts const* start = nullptr;
    generation const* present = nullptr; ///< Stays until the reload has ended.
    std::vector<listening_place> places; ///< Where the workers listen.
    file_changes changed{};              ///< Since the present configuration was made.
};

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
