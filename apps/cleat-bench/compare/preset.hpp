// preset: the servers that can be compared, and how each is told the same.

#pragma once

#include "compare/config_template.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// home is where a preset's program comes from.
enum class home : std::uint8_t
{
    own,    ///< Built with cleat-bench, and in one folder with it.
    system, ///< A package of the system: PATH, and where servers are.
    peers   ///< Built or fetched by peers/install.
};

/// preset is a server. Its configuration and arguments are templates (config_template.hpp) with the
/// names of values_for.
struct preset
{
    std::string_view name;
    home from = home::own;
    std::vector<std::string_view> programs; ///< The first that is there.
    std::string_view config_name;           ///< Of the template in peers/; empty: none.
    std::string_view config;
    std::vector<std::string> arguments;
    std::string version;      ///< The argument that makes it say its version.
    bool one_worker = false;  ///< It has no others.
    std::string_view install; ///< How it is had.
};

/// setting is what every server of a scenario is told.
struct setting
{
    unsigned port = 8443;
    unsigned upstream = 8000;
    std::string pem = "/etc/site.pem";
    std::string folder = "/tmp"; ///< The server's own.
    std::string config;          ///< Where its configuration is.
    std::string groups = "X25519";
    std::string tls = "1.3";
    std::string ciphers; ///< TLS 1.2; empty: the server's own.
    bool session_ids = false;
    unsigned workers = 1;
    std::vector<int> cores;
};

/// presets are all of them, in the order in which they are compared.
[[nodiscard]] std::vector<preset> const& presets();

/// find_preset by its name; null where there is none.
[[nodiscard]] preset const* find_preset(std::string_view name);

/// values_for a template.
[[nodiscard]] template_values values_for(setting const& use);

/// find_program is where a preset's program is, if it is there; `own` is the folder of cleat's own.
[[nodiscard]] std::optional<std::filesystem::path> find_program(
    preset const& of, std::filesystem::path const& own);

} // namespace cleat::bench
