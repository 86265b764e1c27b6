// named_places: the files and folders that a configuration names, whether cleat can read them, and
// whether a reload can.

#pragma once

#include "config/config.hpp"
#include "privileged/opener.hpp"
#include "process/process.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// file_place is a file or a folder to read, where the configuration names it.
struct file_place
{
    location where;
    std::string_view key;
    std::string path;
};

/// file_places_of are those of certificates, clients' authorities, lists, ticket secrets and TLS
/// to upstreams, without those that the settings name to no effect.
[[nodiscard]] std::vector<file_place> file_places_of(config const& settings);

/// problems_of_named_files has an error for each file and folder that the settings name and that
/// cannot be read, in the words of a start. It looks at no more than that: the rest of the settings
/// may be missing, because of the problems that are known. Behind a flag that is wrong, a word of
/// the command line may be its value: such files are left out. So are those that only the process
/// behind root_files could open, which reads none that a configuration with mistakes names. Throws
/// std::bad_alloc.
[[nodiscard]] std::vector<problem> problems_of_named_files(
    config const& partial, std::span<problem const> known, opener const& root_files = {});

/// find_places_refused_later adds a warning for each reason why a reload cannot read a file that
/// this process can: cleat's user may not read it, and the process that opens root's files refuses
/// its path, which another user could change. Nothing where this process is not root's, or there
/// is no such process. Call it while the process has one thread. Throws std::bad_alloc.
void find_places_refused_later(
    config const& settings, std::optional<identity> const& user, std::vector<problem>& problems);

} // namespace cleat::app
