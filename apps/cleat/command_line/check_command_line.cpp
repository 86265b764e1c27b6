#include "command_line/check_command_line.hpp"
#include "command_line/start_flags.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::string_view check_help = R"(Usage: {0} check [--json] [--all] [OPTIONS] [PEM...]

Checks what -t checks, and prints a report on every certificate: its names, key, validity, the
frontends that serve it, and findings. It takes the flags and files of a start, changes nothing and
takes no port. The exit code is 0 where nothing is worse than a warning, else 1.

  --json  one JSON document, for programs
  --all   every certificate, also where there are more than 100; else those with findings
  -h, --help

{0} --help lists the other flags.
)";

constexpr std::array<own_flag, 3> check_flags{{
    {"--json", own_flag::kind::flag},
    {"--all", own_flag::kind::flag},
    {"-h,--help", own_flag::kind::instead},
}};

} // namespace

command parse_check(std::string_view program, std::span<char const* const> arguments)
{
    start_words words =
        read_start_words({program, fmt::format("{} check", program), check_flags}, arguments);
    if (words.has("help"))
        return print_text{fmt::format(check_help, program)};
    if (!rest_is_whole(words.problems))
        return refused{std::move(words.problems), std::move(words.settings)};
    return report_certificates{
        std::move(words.settings), std::move(words.problems), words.has("json"), words.has("all")};
}

} // namespace cleat::app
