#include "compare/running_target.hpp"
#include "generate/target.hpp"
#include "system/processes.hpp"
#include "text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

// For the first of several addresses that takes a connection.
constexpr std::chrono::milliseconds connect_patience{1000};

int parse_pid(std::string_view text)
{
    std::optional<int> const pid = parse_whole<int>(text);
    if (!pid || !exists(*pid))
        throw std::runtime_error{fmt::format("pid={}: there is no such process here", text)};
    return *pid;
}

} // namespace

running_target parse_running_target(std::string_view text)
{
    constexpr std::string_view pid_word = "pid=";
    std::size_t const comma = std::min(text.find(','), text.size());
    running_target found;
    found.text = text.substr(0, comma);
    if (comma != text.size()) {
        std::string_view const more = text.substr(comma + 1);
        if (!more.starts_with(pid_word))
            throw std::runtime_error{
                fmt::format("'{}' behind the comma: write pid=PID, or nothing", more)};
        found.pids = {parse_pid(more.substr(pid_word.size()))};
    }
    target const server = find_target(found.text);
    if (server.path != "/")
        throw std::runtime_error{fmt::format(
            "{}: the scenario has the paths: leave it out, and write HOST:PORT", server.path)};
    found.server_name = server_name_of(server.host);
    found.host = host_field(found.server_name, server.port);
    found.address = first_that_answers(server.addresses, connect_patience);
    return found;
}

} // namespace cleat::bench
