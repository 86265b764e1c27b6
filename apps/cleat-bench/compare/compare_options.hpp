// compare_words: the options of `compare` and `serve`, as they are written.

#pragma once

#include "compare/compare.hpp"
#include "compare/serve.hpp"

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

/// serve_words, likewise, for `serve`.
struct serve_words
{
    std::string server;
    std::string scenario = "full-ecdsa-p256";
    unsigned workers = 1;
    std::string server_cores;
    std::string client_cores;
    std::string binaries;
    bool json = false;

    void add_to(CLI::App& app);
    [[nodiscard]] do_serve make() const;
};

} // namespace cleat::bench
