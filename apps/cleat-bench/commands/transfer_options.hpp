// transfer_words: from words to messages of one size.

#pragma once

#include "commands/load_options.hpp"
#include "commands/transfer.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cleat::bench {

/// transfer_words: THREADS CONNECTIONS MESSAGES SIZE, in the order that the old Asio benchmark has
/// them, or options.
struct transfer_words
{
    load_words load;
    std::vector<std::string> old;
    std::string target;
    unsigned threads = 1;
    unsigned connections = 4;
    unsigned messages = 100;
    std::string size = "1M";
    std::string direction = "down";

    void add_to(CLI::App& app);

    /// make throws std::runtime_error that names the option and the cure.
    [[nodiscard]] do_transfer make();

private:
    void read_old_order();
};

} // namespace cleat::bench
