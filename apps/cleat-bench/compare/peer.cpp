#include "compare/peer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
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

peer parse_build(std::string_view text)
{
    std::size_t const equals = text.find('=');
    std::size_t const colon = text.find(':', std::min(equals, text.size()));
    if (equals == std::string_view::npos || colon == std::string_view::npos)
        throw std::runtime_error{
            "write NAME=SERVER:PROGRAM, like before=cleat:/opt/before/bin/cleat"};
    peer found;
    found.name = text.substr(0, equals);
    if (!is_plain(found.name))
        throw std::runtime_error{fmt::format(
            "'{}' cannot be the name of a build: write letters, digits, '-', '_' and '.'",
            found.name)};
    std::string_view const server = text.substr(equals + 1, colon - equals - 1);
    found.preset = find_preset(server);
    if (found.preset == nullptr)
        throw std::runtime_error{fmt::format(
            "there is no server '{}': take one of {}", server, fmt::join(preset_names(), ", "))};
    found.program = runnable_program(text.substr(colon + 1));
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
    return find_program(*wanted.preset, build_folder);
}

} // namespace cleat::bench
