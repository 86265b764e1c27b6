// transfer_options: the options of `transfer`.

#pragma once

#include "commands/load_options.hpp"
#include "commands/transfer.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cleat::bench {

/// transfer_options holds what CLI11 has read: options, or THREADS CONNECTIONS MESSAGES SIZE in the
/// order of the old Asio benchmark.
struct transfer_options
{
    load_options load;
    std::vector<std::string> positionals;
    std::string target;
    unsigned threads = 1;
    unsigned connections = 4;
    unsigned messages = 100;
    std::string size = "1M";
    std::string direction = "down";
    std::string path;

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] transfer_request make();

private:
    void read_positionals();
};

} // namespace cleat::bench
