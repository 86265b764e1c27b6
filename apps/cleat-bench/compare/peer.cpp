#include "compare/peer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

// A name heads a column, and is a part of a command line.
bool is_plain(std::string_view name)
{
    return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

} // namespace

named_text parse_named(std::string_view text, std::string_view form)
{
    std::size_t const equals = text.find('=');
    if (equals == std::string_view::npos || equals + 1 == text.size())
        throw std::runtime_error{fmt::format("write {}", form)};
    named_text found{std::string{text.substr(0, equals)}, text.substr(equals + 1)};
    if (!is_plain(found.name))
        throw std::runtime_error{fmt::format(
            "'{}' cannot be the name of a server: write letters, digits, '-', '_' and '.'",
            found.name)};
    return found;
}

peer parse_build(std::string_view text)
{
    constexpr std::string_view form =
        "NAME=SERVER:PROGRAM, like before=cleat:/opt/before/bin/cleat";
    named_text const named = parse_named(text, form);
    std::size_t const colon = named.rest.find(':');
    if (colon == std::string_view::npos)
        throw std::runtime_error{fmt::format("write {}", form)};
    std::string_view const server = named.rest.substr(0, colon);
    server_preset const* const preset = find_preset(server);
    if (preset == nullptr)
        throw std::runtime_error{fmt::format(
            "there is no server '{}': take one of {}", server, fmt::join(preset_names(), ", "))};
    return {
        named.name, peer_source::preset, *preset, runnable_program(named.rest.substr(colon + 1))};
}

peer parse_target(std::string_view text)
{
    named_text named = parse_named(
        text, "NAME=HOST:PORT or NAME=HOST:PORT,pid=PID, like mine=localhost:8443,pid=4711");
    peer found;
    found.name = std::move(named.name);
    found.source = peer_source::target;
    found.target = parse_running_target(named.rest);
    return found;
}

fs::path runnable_program(std::string_view path)
{
    std::error_code ec;
    fs::path const program = fs::absolute(path, ec);
    if (path.empty() || fs::is_directory(program, ec) || ::access(program.c_str(), X_OK) != 0)
        throw std::runtime_error{fmt::format(
            "'{}' cannot be run: {}: name the program's file", path,
            path.empty()                    ? "it is empty"
            : fs::is_directory(program, ec) ? "it is a folder"
                                            : std::strerror(errno))};
    return program;
}

std::optional<fs::path> program_of(peer const& wanted, fs::path const& build_folder)
{
    if (!wanted.program.empty())
        return wanted.program;
    return find_program(wanted.preset, build_folder);
}

} // namespace cleat::bench
