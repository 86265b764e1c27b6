// process: which programs run, and which programs have a file open.

#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace statsync {

/// whose: the users whose programs are looked at.
enum class whose
{
    of_this_user,
    of_all_users,
};

/// running: the name of a running program that is one of the names.
std::optional<std::string> running(std::span<std::string const> names, whose programs);

/// opener: the name of another program that has the file open, as far as this user may see it.
std::optional<std::string> opener(std::filesystem::path const& file);

} // namespace statsync
