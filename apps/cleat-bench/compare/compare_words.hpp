// compare_words: the options of `compare`, as they are written.

#pragma once

#include "compare/compare.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cleat::bench {

/// compare_words holds what CLI11 has read; make turns it into a wish.
struct compare_words
{
    std::string servers;
    std::vector<std::string> scenarios;
    unsigned rounds = 5;
    unsigned workers = 1;
    std::string server_cores;
    std::string client_cores;
    std::string base;
    std::string binaries;
    std::string json;
    std::string html;
    bool quiet = false;

    /// add_to gives a subcommand these options.
    void add_to(CLI::App& app);

    /// make checks them and reads the scenarios. Throws std::runtime_error that names the option
    /// and the cure.
    [[nodiscard]] do_compare make() const;
};

} // namespace cleat::bench
