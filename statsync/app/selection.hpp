// selection: the providers that a command works on, and the plan's options, by their indices.

#pragma once

#include "options.hpp"
#include "provider/registry.hpp"
#include "sync/plan.hpp"

namespace statsync {

/// selection: open providers. A provider that cannot be read is left out, with a message.
struct selection
{
    provider_list providers;
    bool is_complete = true;
};

/// select opens the providers that the options name, or all, and reads them.
selection select(registry const& configured, options const& parsed);

/// plan_options_of: throws failure(problem::settings) where an option names no selected provider.
plan_options plan_options_of(options const& parsed, selection const& selected);

} // namespace statsync
