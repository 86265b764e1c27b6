// process: which programs of this user run, and which of them have a file open.

#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace statsync {

/// running: the name of a running program of this user that is one of the names.
std::optional<std::string> running(std::span<std::string const> names);

/// opener: the name of another program that has the file open, as far as this user may see it.
std::optional<std::string> opener(std::filesystem::path const& file);

} // namespace statsync
