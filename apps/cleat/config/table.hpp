// Every key of the configuration, one row each. The parser of files, the command line, the help
// text and docs/reference/configuration.md are all made from the table, so a key cannot be missing
// in one of them.

#pragma once

#include "config/key_row.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// config_table is all rows, in the order of the reference page.
[[nodiscard]] std::span<key_row const> config_table() noexcept;

/// find_key finds a key by its name or one of its other names; null when there is none.
[[nodiscard]] key_row const* find_key(std::string_view name) noexcept;

/// default_of is a key's default as the documentation shows it.
[[nodiscard]] std::string default_of(key_row const& row);

/// apply stores a value in its scope: a config or one of its blocks. Where it cannot, it
/// appends the reason to `problems`; a key without meaning is a warning. The caller has checked
/// that the scope allows the key.
void apply(config& scope, given const& value, std::vector<problem>& problems);
void apply(frontend_config& scope, given const& value, std::vector<problem>& problems);
void apply(pem_file& scope, given const& value, std::vector<problem>& problems);
void apply(upstream_config& scope, given const& value, std::vector<problem>& problems);
void apply(upstream_server& scope, given const& value, std::vector<problem>& problems);
void apply(route_config& scope, given const& value, std::vector<problem>& problems);
void apply(allow_config& scope, given const& value, std::vector<problem>& problems);
void apply(allow_list& scope, given const& value, std::vector<problem>& problems);

/// nearest is the candidate with the fewest letters different from `word`; empty when none is
/// close.
[[nodiscard]] std::string_view nearest(
    std::string_view word, std::span<std::string_view const> candidates);

} // namespace cleat::app
