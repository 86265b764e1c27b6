// admin_pages: the paths of the admin server, and the answers that need no wait.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// admin_page is what a path shows or does.
enum class admin_page : std::uint8_t
{
    root,
    metrics,
    status,
    configuration,
    health,
    readiness,
    reload,
    drain,
    log_level,
    server,
};

struct admin_path
{
    std::string_view path;
    admin_page page;
    bool is_command; ///< It takes POST; others take GET and HEAD.
    std::string_view help;
};

/// admin_paths is every path.
[[nodiscard]] std::span<admin_path const> admin_paths() noexcept;

/// find_path is null for an unknown one. A query ("?...") does not count.
[[nodiscard]] admin_path const* find_path(std::string_view target) noexcept;

/// value_in is the value of a key in a target's query ("/path?key=value"), or empty.
[[nodiscard]] std::string_view value_in(std::string_view target, std::string_view key) noexcept;

/// repeated_key is the first key that a target's query has twice, or empty.
[[nodiscard]] std::string_view repeated_key(std::string_view target) noexcept;

/// request_target is where a request goes.
struct request_target
{
    std::string path{}; ///< With its query; "*" for the whole server. Empty: it is none.
    std::optional<std::string> host{}; ///< Of a URL: it stands for the Host header.
};

/// target_of reads the target of a request line (RFC 9112, section 3.2): a path, an http URL
/// (absolute-form), or with OPTIONS "*". Nothing else is for this server.
[[nodiscard]] request_target target_of(std::string_view method, std::string_view text);

/// decoded is a value of a query with its escapes ("%5B") replaced. A wrong one is left as it is.
[[nodiscard]] std::string decoded(std::string_view value);

/// paths_text lists the paths, for / and for unknown ones.
[[nodiscard]] std::string paths_text();

/// problem_json is an error's body: {"error": "..."}.
[[nodiscard]] std::string problem_json(std::string_view why);

} // namespace cleat::app
