// predecessor: the configuration that another one follows.

#pragma once

#include "resolver/target_places.hpp"
#include "watch/watched_files.hpp"

#include <vector>

namespace cleat::app {

struct snapshot;

struct predecessor
{
    snapshot const* configuration = nullptr; ///< Null: there is none.
    file_changes changed{};                  ///< Since it was made.
    std::vector<placed_target> targets{};    ///< Where the targets of its services are now.
};

} // namespace cleat::app
