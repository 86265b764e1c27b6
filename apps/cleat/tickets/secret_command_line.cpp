#include "command_line/secret_command_line.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::string_view ticket_secret_help = R"(Usage: {0} ticket-secret new [FILE]

Makes a secret for the key ticket-secret, 32 random bytes in hexadecimal digits, and prints it. The
exit code is 0 where that was done, else 1.

  FILE  write it to this new file instead, which only its owner may read; a file that is there
        already is left as it is
  -h, --help
)";

command mistake_of(std::string_view program, std::string text)
{
    return refused{
        {{problem::severity::error,
          {"cleat ticket-secret"},
          {},
          std::move(text),
          fmt::format("{} ticket-secret --help explains it.", program)}}};
}

} // namespace

command parse_ticket_secret(std::string_view program, std::span<char const* const> arguments)
{
    std::string_view const first = arguments.empty() ? "" : arguments.front();
    if (first == "-h" || first == "--help")
        return print_text{fmt::format(ticket_secret_help, program)};
    if (first != "new")
        return mistake_of(program, "the word new is missing");
    if (arguments.size() > 2)
        return mistake_of(program, "only one file can follow");
    std::string file{arguments.size() == 2 ? arguments[1] : ""};
    if (file.starts_with('-'))
        return mistake_of(program, fmt::format("there is no flag {}", file));
    if (arguments.size() == 2 && file.empty())
        return mistake_of(program, "the file has no name");
    return make_ticket_secret{std::move(file)};
}

} // namespace cleat::app
