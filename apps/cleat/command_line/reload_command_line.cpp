#include "command_line/reload_command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cleat::app {
namespace {

constexpr std::string_view help = R"(Usage: {0} reload [PID | --pidfile FILE]

Makes a running cleat read its configuration and all its files again, waits, and prints what has
changed or why it was refused. The exit code is 0 where it was done, else 1.

  PID                 the process; without it the only cleat that runs
  -p, --pidfile FILE  the file that has the process's number
)";

} // namespace

command parse_reload(std::string_view program, std::span<char const* const> arguments)
{
    reload_running wanted;
    bool is_help = false;
    CLI::App app;
    app.set_help_flag();
    app.add_option("PID", wanted.process)->check(CLI::Range(1, INT32_MAX));
    app.add_option("-p,--pidfile", wanted.pidfile)->excludes("PID");
    app.add_flag("-h,--help", is_help);
    std::vector<std::string> words(arguments.begin(), arguments.end());
    std::ranges::reverse(words); // the order that CLI11 wants
    try {
        app.parse(std::move(words));
    } catch (CLI::ParseError const& bad) {
        return refused{
            {{problem::severity::error,
              {"cleat reload"},
              {},
              bad.what(),
              fmt::format("{} reload --help explains it.", program)}}};
    }
    if (is_help)
        return print_text{fmt::format(help, program)};
    return wanted;
}

} // namespace cleat::app
