// preset: the servers that can be compared, and how each gets the same settings.

#pragma once

#include "compare/config_template.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// program_source is where a preset's program comes from.
enum class program_source : std::uint8_t
{
    own_build, ///< Built with cleat-bench, and in one folder with it.
    system,    ///< A package of the system: in PATH, or where such packages put servers.
    peers      ///< Built or fetched by peers/install.
};

/// server_preset is a server that can be compared. Its configuration and arguments are templates
/// (config_template.hpp) with the names of values_for.
struct server_preset
{
    std::string name;
    program_source source = program_source::own_build;
    std::vector<std::string_view> programs; ///< Names; the first that exists is run.
    std::string_view config_name;           ///< Of the template in peers/; empty: none.
    std::string_view config;
    std::vector<std::string> arguments; ///< An argument whose condition does not hold is left out.
    std::string version_option;         ///< Makes it print its version.
    bool one_worker = false;            ///< It cannot have more.
    std::string_view install;           ///< How to get it, for messages.
};

/// server_settings are equal for every server of a scenario, but for port and files.
struct server_settings
{
    unsigned port = 8443;
    unsigned upstream = 8000;
    std::string pem = "/etc/site.pem"; ///< With .crt and .key beside it: the parts of it.
    std::string folder = "/tmp";       ///< The server's own.
    std::string config;                ///< Path of its configuration.
    std::string groups = "X25519";
    std::string tls = "1.3";
    std::string ciphers; ///< TLS 1.2; empty: the server's own.
    bool session_ids = false;
    std::string alpn; ///< The protocol that it selects; empty: it knows none.
    unsigned workers = 1;
    std::vector<int> cores;
};

/// presets are all of them, in the order in which they are compared.
[[nodiscard]] std::vector<server_preset> const& presets();

/// preset_names are those of all presets, in that order.
[[nodiscard]] std::vector<std::string> preset_names();

/// find_preset by its name; null if there is none.
[[nodiscard]] server_preset const* find_preset(std::string_view name);

/// values_for a template.
[[nodiscard]] template_values values_for(server_settings const& settings);

/// find_program is the path of a preset's program, if it exists; `build_folder` has cleat and what
/// is built with it.
[[nodiscard]] std::optional<std::filesystem::path> find_program(
    server_preset const& preset, std::filesystem::path const& build_folder);

} // namespace cleat::bench
