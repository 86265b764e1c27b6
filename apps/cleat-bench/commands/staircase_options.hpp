// staircase_options: the options of `staircase`.

#pragma once

#include "commands/load_options.hpp"
#include "commands/staircase.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cleat::bench {

/// staircase_options holds what CLI11 has read: an open loop whose phases are the steps.
struct staircase_options
{
    load_options load;
    double first_rate = 100; ///< Per second, like the next two.
    double last_rate = 10'000;
    double step = 100;
    std::string hold = "2s";
    std::string arrivals = "constant";
    std::string server_cpu;

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] staircase_request make();
};

} // namespace cleat::bench
