// reload_request: what a reload is made from.

#pragma once

#include "privileged/opener.hpp"
#include "resolver/target_places.hpp"
#include "sandbox/sandbox.hpp"
#include "snapshot/generation.hpp"
#include "snapshot/listening_place.hpp"
#include "watch/watched_files.hpp"

#include <cstdint>
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
    std::uint64_t memory_needed = 0; ///< Bytes in use before the first connection: see max-memory.
};

/// reload_request is what a reload is made from. It is taken on the main thread.
struct reload_request
{
    start_facts const* start = nullptr;
    generation const* present = nullptr;  ///< Stays until the reload has ended.
    std::vector<listening_place> places;  ///< Where the workers listen.
    file_changes changed{};               ///< Since the present configuration was made.
    std::vector<placed_target> targets{}; ///< Where the targets of its services are now.
};

} // namespace cleat::app
