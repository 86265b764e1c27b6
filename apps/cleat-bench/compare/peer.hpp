// peer: a program that takes part in a comparison, under a name of its own.

#pragma once

#include "compare/preset.hpp"
#include "compare/running_target.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// peer_source is how a server comes into a comparison.
enum class peer_source : std::uint8_t
{
    preset,  ///< With a preset's configuration: its own program, or another build.
    command, ///< With a command of the user's, which says all settings.
    target   ///< It runs already.
};

/// peer is a server of a comparison.
struct peer
{
    std::string name; ///< In tables and documents.
    peer_source source = peer_source::preset;
    server_preset preset;
    std::filesystem::path program; ///< Absolute; empty: the preset's own.
    running_target target{};       ///< Where it runs already.
};

/// named_text is "NAME=REST".
struct named_text
{
    std::string name;
    std::string_view rest;
};

/// parse_named cuts a text at its first '='. Throws std::runtime_error where there is none, with
/// `form` as the cure, or where the name does not suit a table.
[[nodiscard]] named_text parse_named(std::string_view text, std::string_view form);

/// parse_build reads "NAME=SERVER:PROGRAM": PROGRAM is another build of the preset SERVER, and NAME
/// is what tables call it. Throws std::runtime_error that says what is wrong with the text.
[[nodiscard]] peer parse_build(std::string_view text);

/// runnable_program is the absolute path of a file that can be run. Throws std::runtime_error.
[[nodiscard]] std::filesystem::path runnable_program(std::string_view path);

/// parse_target reads "NAME=HOST:PORT" and "NAME=HOST:PORT,pid=PID". Throws as parse_running_target
/// does.
[[nodiscard]] peer parse_target(std::string_view text);

/// program_of a peer that is started: the path to run; unset if the preset's own is not there.
/// `build_folder` has cleat and what is built with it.
[[nodiscard]] std::optional<std::filesystem::path> program_of(
    peer const& wanted, std::filesystem::path const& build_folder);

} // namespace cleat::bench
