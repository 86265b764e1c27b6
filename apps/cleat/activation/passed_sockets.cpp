#include "activation/passed_sockets.hpp"
#include "system/taken_variable.hpp"
#include "system/whole_number.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::app {
namespace {

constexpr int first_number = 3; // SD_LISTEN_FDS_START

// More than any unit has; a larger number is a mistake.
constexpr int sockets_max = 4096;

std::optional<int> natural_number(std::string_view text)
{
    std::optional<int> const number = whole_number<int>(text);
    return number >= 0 ? number : std::nullopt;
}

std::vector<std::string> names_between_colons(std::string_view text)
{
    std::vector<std::string> parts;
    for (;;) {
        std::size_t const colon = text.find(':');
        parts.emplace_back(text.substr(0, colon));
        if (colon == std::string_view::npos)
            return parts;
        text.remove_prefix(colon + 1);
    }
}

int passed_option(int fd, int level, int option) noexcept
{
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

problem bad_socket(std::string text, std::string cure)
{
    return {problem::severity::error, {"LISTEN_FDS"}, {}, std::move(text), std::move(cure)};
}

} // namespace

passed_names names_in(listen_variables const& variables, pid_t process)
{
    if (!variables.pid || !variables.fds)
        return {};
    std::optional<int> const reader = natural_number(*variables.pid);
    if (!reader)
        return {{}, fmt::format("LISTEN_PID is no number: {}", *variables.pid)};
    if (*reader != process)
        return {};
    std::optional<int> const count = natural_number(*variables.fds);
    if (!count || *count > sockets_max)
        return {{}, fmt::format("LISTEN_FDS is no number of sockets: {}", *variables.fds)};
    if (*count == 0)
        return {};
    if (!variables.names)
        return {std::vector<std::string>(static_cast<std::size_t>(*count)), {}};
    std::vector<std::string> names = names_between_colons(*variables.names);
    if (names.size() != static_cast<std::size_t>(*count))
        return {
            {},
            fmt::format(
                "LISTEN_FDNAMES has {} names, and LISTEN_FDS says {}", names.size(), *count)};
    return {std::move(names), {}};
}

std::optional<passed_socket> look_at(unique_fd fd, std::string name)
{
    passed_socket found{std::move(fd), std::move(name), {}};
    int const number = found.fd.get();
    result<net::address> const address = net::local_address(number);
    if (!address || passed_option(number, SOL_SOCKET, SO_TYPE) != SOCK_STREAM ||
        passed_option(number, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP ||
        passed_option(number, SOL_SOCKET, SO_ACCEPTCONN) != 1)
        return std::nullopt;
    found.address = *address;
    bool const is_any = net::to_string(*address).starts_with("[::]:");
    found.takes_ipv4 = is_any && passed_option(number, IPPROTO_IPV6, IPV6_V6ONLY) == 0;
    return found;
}

passed_sockets take_passed_sockets()
{
    listen_variables const variables{
        take_variable("LISTEN_PID"), take_variable("LISTEN_FDS"), take_variable("LISTEN_FDNAMES")};
    passed_names const passed = names_in(variables, ::getpid());
    passed_sockets made;
    if (!passed.fault.empty())
        made.problems.push_back(bad_socket(passed.fault, "See the program that starts cleat."));
    for (std::size_t i = 0; i < passed.names.size(); ++i) {
        int const number = first_number + static_cast<int>(i);
        if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
            made.problems.push_back(bad_socket(
                fmt::format("descriptor {} is not open", number),
                "See the program that starts cleat."));
            continue;
        }
        if (std::optional<passed_socket> found = look_at(unique_fd{number}, passed.names[i]))
            made.sockets.push_back(std::move(*found));
        else
            made.problems.push_back(bad_socket(
                fmt::format(
                    "descriptor {} ({}) is no TCP socket that listens", number, passed.names[i]),
                "Write ListenStream= with a port, and Accept=no, into the socket unit."));
    }
    return made;
}

std::string spelled(passed_socket const& socket)
{
    std::string const name = socket.name.empty() ? "" : ", named " + socket.name;
    return fmt::format(
        "{} (descriptor {}{})", net::to_string(socket.address), socket.fd.get(), name);
}

} // namespace cleat::app
