// idle_options: the options of `idle`.

#pragma once

#include "commands/idle.hpp"
#include "commands/load_options.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cleat::bench {

/// idle_options holds what CLI11 has read.
struct idle_options
{
    load_options load;
    std::string counts = "1000,2000,3000,4000";
    std::string settle = "500ms";

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] idle_request make();
};

} // namespace cleat::bench
