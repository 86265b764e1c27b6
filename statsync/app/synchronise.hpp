// synchronise: the commands that work on several providers.

#pragma once

#include "options.hpp"
#include "provider/registry.hpp"

namespace statsync {

// Each command returns the program's exit code.
int diff(registry const& all, options const& parsed);
int synchronise(registry const& all, options const& parsed);
int review(registry const& all, options const& parsed);
int undo(registry const& all);

} // namespace statsync
