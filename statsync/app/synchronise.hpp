// synchronise: the commands that work on several providers.

#pragma once

#include "options.hpp"
#include "provider/registry.hpp"
#include "sync/history.hpp"

namespace statsync {

/// state_folder: runs and baselines are here.
std::filesystem::path state_folder();

// Each command returns the program's exit code.
int diff(registry const& all, options const& parsed);
int synchronise(registry const& all, options const& parsed);
int undo(registry const& all);

} // namespace statsync
