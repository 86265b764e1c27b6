// predecessor: the configuration that another one follows.

#pragma once

#include "watch/watched_files.hpp"

namespace cleat::app {

struct snapshot;

struct predecessor
{
    snapshot const* configuration = nullptr; ///< Null: there is none.
    file_changes changed{};                  ///< Since it was made.
};

} // namespace cleat::app
