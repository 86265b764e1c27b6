#include "command_line/secret_command_line.hpp"
#include "command_line/start_flags.hpp"
#include "system/whole_number.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::string_view ticket_secret_help =
    R"(Usage: {0} ticket-secret new [--ratchet[=SECS]] [FILE]

Makes a secret for the key ticket-secret, 32 random bytes in hexadecimal digits, and prints it. The
exit code is 0 where that was done, else 1.

  new   make one
  --ratchet
        make the state of a ratchet instead, for ticket-ratchet = on and a ticket-epoch of 43200;
        --ratchet=SECS is for another one
  FILE  write it to this new file instead, which only its owner may read; a file that is there
        already is left as it is
  -h, --help
)";

constexpr std::string_view ratchet_flag = "--ratchet";
constexpr std::chrono::seconds epoch_min{60}; // That of the key ticket-epoch.

// Of the text behind the flag: nothing, or "=SECS".
std::optional<std::chrono::seconds> epoch_of(std::string_view text)
{
    if (text.empty())
        return *config{}.ticket_epoch;
    if (text.front() != '=')
        return {};
    text.remove_prefix(1);
    std::optional<std::int64_t> const seconds = whole_number<std::int64_t>(text);
    std::chrono::seconds const epoch{seconds.value_or(0)};
    if (epoch < epoch_min || epoch > limits::ticket_lifetime_max)
        return {};
    return epoch;
}

command mistake_of(std::string_view program, std::string text)
{
    return refused{{mistake(
        "cleat ticket-secret", std::move(text),
        fmt::format("{} ticket-secret --help explains it.", program))}};
}

} // namespace

command parse_ticket_secret(std::string_view program, std::span<char const* const> arguments)
{
    std::string_view const first = arguments.empty() ? "" : arguments.front();
    if (first == "-h" || first == "--help")
        return print_text{fmt::format(ticket_secret_help, program)};
    if (first != "new")
        return mistake_of(program, "the word new is missing");
    std::span<char const* const> rest = arguments.subspan(1);
    make_ticket_secret wanted;
    if (!rest.empty() && std::string_view{rest.front()}.starts_with(ratchet_flag)) {
        std::string_view const flag = rest.front();
        wanted.ratchet = epoch_of(flag.substr(ratchet_flag.size()));
        if (!wanted.ratchet)
            return mistake_of(
                program, fmt::format(
                             "{} has no ticket-epoch, which is a number of seconds from {} to {}",
                             flag, epoch_min.count(), limits::ticket_lifetime_max.count()));
        rest = rest.subspan(1);
    }
    if (rest.size() > 1)
        return mistake_of(program, "only one file can follow");
    wanted.file = rest.empty() ? "" : rest.front();
    if (wanted.file.starts_with('-'))
        return mistake_of(program, fmt::format("there is no flag {}", wanted.file));
    if (!rest.empty() && wanted.file.empty())
        return mistake_of(program, "the file has no name");
    return wanted;
}

} // namespace cleat::app
