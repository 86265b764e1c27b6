// process: which programs run, and which programs have a file open.

#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace statsync {

/// user_set: users by their numbers. An empty one means all users.
using user_set = std::set<unsigned>;

/// users_of: this user, and the owners of the files that are there.
user_set users_of(std::span<std::filesystem::path const> files);

/// running: the name of a running program of one of the users that is one of the names.
std::optional<std::string> running(std::span<std::string const> names, user_set const& users);

/// opener: the name of another program that has the file open, as far as this user may see it.
std::optional<std::string> opener(std::filesystem::path const& file);

} // namespace statsync
