// idle_words: from words to connections that are held.

#pragma once

#include "commands/idle.hpp"
#include "commands/load_options.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace cleat::bench {

/// idle_words: how many connections are held, and how long before the server is looked at.
struct idle_words
{
    load_words load;
    std::string counts = "1000,2000,3000,4000";
    std::string settle = "500ms";

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] do_idle make();
};

} // namespace cleat::bench
