// candidate: a new configuration, built and tried out beside the one in service.

#pragma once

#include "reload/changes.hpp"
#include "worker_group.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// reload_request is what a reload is made from. It is taken on the main thread.
struct reload_request
{
    std::vector<std::string> command_line; ///< The program's: it names the configuration file.
    std::string folder;                    ///< In which the program was started.
    generation const* present = nullptr;   ///< Stays until the reload has ended.
    std::vector<listening_place> places;   ///< Where the workers listen.
};

/// candidate has a successor only if no problem is an error.
struct candidate
{
    std::optional<successor> next{};
    configuration_changes changes{};
    std::vector<problem> problems{}; ///< Warnings, too.
    watch_plan watched{};            ///< Those that it names, also where it is refused.
};

/// build_candidate reads the configuration and everything that it names anew, tries it out, opens
/// the log and the listening sockets that the present configuration does not have, and makes each
/// worker's part. Nothing of it touches the workers, or the present configuration.
[[nodiscard]] candidate build_candidate(reload_request const& request, worker_group& workers);

} // namespace cleat::app
