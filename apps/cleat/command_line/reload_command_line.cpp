#include "command_line/reload_command_line.hpp"
#include "command_line/start_flags.hpp"
#include "system/whole_number.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace cleat::app {
namespace {

constexpr std::string_view help = R"(Usage: {0} reload [PID | --pidfile FILE]

Makes a running cleat read its configuration and all its files again, waits, and prints what has
changed or why it was refused. The exit code is 0 where it was done, else 1.

  PID                 the process; without it the only cleat that runs
  -p, --pidfile FILE  the file that has the process's number
)";

// Empty: it is none.
std::optional<pid_t> process_number(std::string_view text)
{
    std::optional<pid_t> const number = whole_number<pid_t>(text);
    return number > 0 ? number : std::nullopt; // An empty one is less than any number.
}

command reload_mistake(std::string text, std::string cure)
{
    return refused{{mistake("cleat reload", std::move(text), std::move(cure))}};
}

} // namespace

command parse_reload(std::string_view program, std::span<char const* const> arguments)
{
    std::string const help_line = fmt::format("{} reload --help explains it.", program);
    reload_running wanted;
    std::optional<std::string> process;
    bool is_help = false;
    CLI::App app;
    app.set_help_flag();
    app.allow_extras(); // Else an option's value is taken for the process.
    app.add_option("PID", process);
    app.add_option("-p,--pidfile", wanted.pidfile)->excludes("PID");
    app.add_flag("-h,--help", is_help);
    std::vector<std::string> words(arguments.begin(), arguments.end());
    std::ranges::reverse(words); // the order that CLI11 wants
    try {
        app.parse(std::move(words));
    } catch (CLI::ParseError const& bad) {
        return reload_mistake(bad.what(), help_line);
    }
    if (is_help)
        return print_text{fmt::format(help, program)};
    if (std::vector<std::string> const others = app.remaining(); !others.empty())
        return others.front().starts_with('-')
                   ? reload_mistake(
                         fmt::format("{} is none of its options", others.front()),
                         "A reload reads the files that the running cleat was started with. " +
                             help_line)
                   : reload_mistake(
                         fmt::format("\"{}\" is one word too many", others.front()), help_line);
    if (process && !(wanted.process = process_number(*process)))
        return reload_mistake(fmt::format("\"{}\" is no number of a process", *process), help_line);
    if (app.count("--pidfile") != 0 && wanted.pidfile.empty())
        return reload_mistake("the pidfile has no name", help_line);
    return wanted;
}

} // namespace cleat::app
