// rules: what cleat may do with files and ports once it serves, from its configuration. Pure, but
// for a look at the kind of a log.

#pragma once

#include "config/config.hpp"
#include "sandbox/landlock_abi.hpp"
#include "watch/watched_files.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// These are the rights that rules give, to everything below a path.
namespace rights {
inline constexpr std::uint64_t reading = landlock::read_file | landlock::read_dir;
inline constexpr std::uint64_t logging = landlock::write_file | landlock::make_reg;
inline constexpr std::uint64_t replacing = landlock::read_file | logging | landlock::remove_file;
inline constexpr std::uint64_t removing = landlock::remove_file;
inline constexpr std::uint64_t sockets = landlock::make_sock | landlock::remove_file;
inline constexpr std::uint64_t writing = reading | replacing | sockets;
} // namespace rights

/// path_rule gives rights to a file, or to a folder and everything below it.
struct path_rule
{
    std::string path; ///< Absolute. It may be missing.
    std::uint64_t rights = 0;
};

struct sandbox_rules
{
    std::vector<path_rule> paths;
    bool limits_ports = false;
    std::vector<std::uint16_t> bound_ports;     ///< Where TCP may listen.
    std::vector<std::uint16_t> connected_ports; ///< Where TCP may connect to.
};

/// is_shared_folder: many programs keep their files below this folder, so cleat gets no right to it
/// where a setting only names a folder in it.
[[nodiscard]] bool is_shared_folder(std::string_view path);

/// rules_for makes the rules. `named` has the folders of the files to read, and of the links on
/// the way to them. Relative paths begin in `folder`. is_root: the process keeps root's rights.
/// log_folders is the value of systemd's $LOGS_DIRECTORY: absolute paths with colons between them,
/// where a reload may turn on a log.
[[nodiscard]] sandbox_rules rules_for(
    config const& settings, watched_files const& named, std::string const& folder, bool is_root,
    std::string_view log_folders);

/// names_sources: connections to upstreams come from addresses that the settings name. Landlock has
/// binding to these, with any port, as port 0.
[[nodiscard]] bool names_sources(config const& settings);

/// connected_port is where an upstream makes TCP connect to, and the setting that says so.
struct connected_port
{
    std::uint16_t port;
    location where;
    std::string_view key;
};

/// connected_ports_for is those of the backend and of each server.
[[nodiscard]] std::vector<connected_port> connected_ports_for(config const& settings);

} // namespace cleat::app
