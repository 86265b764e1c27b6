// staircase_words: from words to steps of a rate.

#pragma once

#include "commands/load_options.hpp"
#include "commands/staircase.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cleat::bench {

/// staircase_words is an open loop whose phases are its steps.
struct staircase_words
{
    load_words load;
    double from = 100;
    double to = 10'000;
    double step = 100;
    std::string hold = "2s";
    std::string arrivals = "constant";

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] do_staircase make();
};

} // namespace cleat::bench
