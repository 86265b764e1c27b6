// peer: a program that takes part in a comparison, under a name of its own.

#pragma once

#include "compare/preset.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// peer is a server of a comparison: a preset's own program, or another build of it.
struct peer
{
    std::string name; ///< In tables and documents: the preset's, or that of the build.
    server_preset const* preset = nullptr;
    std::filesystem::path program; ///< Of a build, absolute; empty: the preset's own.
};

/// parse_build reads "NAME=SERVER:PROGRAM": PROGRAM is another build of the preset SERVER, and NAME
/// is what tables call it. Throws std::runtime_error that says what is wrong with the text.
[[nodiscard]] peer parse_build(std::string_view text);

/// runnable_program is the absolute path of a file that can be run. Throws std::runtime_error.
[[nodiscard]] std::filesystem::path runnable_program(std::string_view path);

/// program_of a peer: the path to run; unset if the preset's own is not there. `build_folder` has
/// cleat and what is built with it.
[[nodiscard]] std::optional<std::filesystem::path> program_of(
    peer const& wanted, std::filesystem::path const& build_folder);

} // namespace cleat::bench
