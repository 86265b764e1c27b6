#include "command_line/health_command_line.hpp"
#include "command_line/start_flags.hpp"
#include "config/parser.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::app {
namespace {

constexpr std::string_view health_help =
    R"(Usage: {0} health [--ready] (ADMIN | --config FILE)

Asks the admin server of a running cleat whether every worker answers, and prints what it says. The
exit code is 0 where they do, else 1.

  ADMIN          where the server is: [HOST]:PORT, or the /PATH of its UNIX socket
  --config FILE  ask where the key admin of this file says
  --ready        ask whether cleat accepts connections, which ends when a drain begins
  -h, --help
)";

struct health_words
{
    std::string admin;
    std::string file;
    bool is_ready = false;
    bool is_help = false;
};

command one_mistake(std::string flag, std::string text, std::string cure)
{
    return refused{{mistake(std::move(flag), std::move(text), std::move(cure))}};
}

// A running cleat refuses a reload with a broken file and serves on: a mistake elsewhere in the
// file says nothing about its health.
command address_from_file(health_words const& words)
{
    config settings;
    std::vector<problem> problems;
    read_config_file(words.file, dialect::hitch, settings, problems);
    if (!std::holds_alternative<std::monostate>(*settings.admin))
        return ask_health{*settings.admin, words.is_ready};
    if (has_errors(problems))
        return refused{std::move(problems)};
    return refused{
        {{problem::severity::error,
          {words.file},
          "admin",
          "admin is not set, so no server can be asked",
          "Set it in the file, or write the address behind health."}}};
}

command address_from_word(std::string_view program, health_words const& words)
{
    if (words.admin.empty())
        return one_mistake(
            "cleat health", "the address of the admin server is missing",
            fmt::format("{} health --help explains it.", program));
    parsed<admin_address> const where = parse_admin_address(words.admin, dialect::hitch);
    if (!where)
        return one_mistake("cleat health", where.error().text, where.error().cure);
    return ask_health{*where, words.is_ready};
}

} // namespace

command parse_health(std::string_view program, std::span<char const* const> arguments)
{
    health_words found;
    CLI::App app;
    app.set_help_flag();
    app.add_option("ADMIN", found.admin);
    app.add_option("--config", found.file)->excludes("ADMIN");
    app.add_flag("--ready", found.is_ready);
    app.add_flag("-h,--help", found.is_help);
    std::vector<std::string> words(arguments.begin(), arguments.end());
    std::ranges::reverse(words); // the order that CLI11 wants
    try {
        app.parse(std::move(words));
    } catch (CLI::ParseError const& bad) {
        return one_mistake(
            "cleat health", bad.what(), fmt::format("{} health --help explains it.", program));
    }
    if (found.is_help)
        return print_text{fmt::format(health_help, program)};
    command wanted =
        found.file.empty() ? address_from_word(program, found) : address_from_file(found);
    ask_health const* const asked = std::get_if<ask_health>(&wanted);
    host_port const* const port =
        asked == nullptr ? nullptr : std::get_if<host_port>(&asked->where);
    if (port != nullptr && port->port == 0)
        return one_mistake(
            "cleat health", "port 0 is any free one, so it does not say where the server is",
            "Write the port that the log names (admin-listening).");
    return wanted;
}

} // namespace cleat::app
