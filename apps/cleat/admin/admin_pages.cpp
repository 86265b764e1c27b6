#include "admin/admin_pages.hpp"
#include "inspect/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <system_error>

namespace cleat::app {
namespace {

constexpr std::array<admin_path, 10> paths{{
    {"/", admin_page::root, false, "this list; for a browser a live status page"},
    {"/metrics", admin_page::metrics, false, "for Prometheus: its text format, or OpenMetrics"},
    {"/status.json", admin_page::status, false,
     "process, workers, servers, certificates that end first, failures, settings, every metric"},
    {"/configuration", admin_page::configuration, false,
     "the configuration file in force, as it was read"},
    {"/healthz", admin_page::health, false, "200 while every worker answers, else 503"},
    {"/readyz", admin_page::readiness, false, "200 while cleat accepts connections, else 503"},
    {"/reload", admin_page::reload, true,
     "read the configuration and its files again, and wait for the outcome"},
    {"/drain", admin_page::drain, true,
     "after drain-delay accept no more connections, and end with the last one, as SIGTERM does"},
    {"/log-level", admin_page::log_level, true,
     "?level=0, 1 or 2: log down to that level; ?level=configured: as the configuration says"},
    {"/server", admin_page::server, true,
     "?upstream=NAME&server=ADDRESS with state=drain or ready, or weight=NUM or configured"},
}};

// Without its question mark.
std::string_view query_of(std::string_view target) noexcept
{
    std::size_t const begin = target.find('?');
    return begin == target.npos ? std::string_view{} : target.substr(begin + 1);
}

// The first pair of a query that is not empty, which is left without it.
std::string_view take_pair(std::string_view& query) noexcept
{
    std::string_view const pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    return pair;
}

std::string_view key_of(std::string_view pair) noexcept
{
    return pair.substr(0, pair.find('='));
}

} // namespace

std::span<admin_path const> admin_paths() noexcept
{
    return paths;
}

admin_path const* find_path(std::string_view target) noexcept
{
    auto const* const found =
        std::ranges::find(paths, target.substr(0, target.find('?')), &admin_path::path);
    return found == paths.end() ? nullptr : found;
}

std::string_view value_in(std::string_view target, std::string_view key) noexcept
{
    for (std::string_view rest = query_of(target); !rest.empty();) {
        std::string_view const pair = take_pair(rest);
        if (pair.starts_with(key) && pair.substr(key.size()).starts_with('='))
            return pair.substr(key.size() + 1);
    }
    return {};
}

std::string_view repeated_key(std::string_view target) noexcept
{
    for (std::string_view rest = query_of(target); !rest.empty();) {
        std::string_view const key = key_of(take_pair(rest));
        for (std::string_view others = rest; !key.empty() && !others.empty();)
            if (key_of(take_pair(others)) == key)
                return key;
    }
    return {};
}

request_target target_of(std::string_view method, std::string_view text)
{
    constexpr std::string_view scheme = "http://";
    if (text.starts_with('/') || (text == "*" && method == "OPTIONS"))
        return {.path = std::string{text}};
    auto const is_same = [](char a, char b) { // A scheme has capital letters, too.
        return a == b || (a >= 'A' && a <= 'Z' && static_cast<char>(a + 32) == b);
    };
    if (!std::ranges::equal(text.substr(0, scheme.size()), scheme, is_same))
        return {};
    text.remove_prefix(scheme.size());
    std::string_view const host = text.substr(0, text.find_first_of("/?#"));
    std::string_view const path = text.substr(host.size());
    // RFC 9110, section 4.2.4: a user in an http URL is an error.
    if (host.empty() || host.find('@') != host.npos || path.starts_with('#'))
        return {};
    if (path.empty() && method == "OPTIONS") // RFC 9112, section 3.2.4.
        return {.path = "*", .host = std::string{host}};
    return {
        .path = path.starts_with('/') ? std::string{path} : fmt::format("/{}", path),
        .host = std::string{host}};
}

std::string decoded(std::string_view value)
{
    std::string text;
    while (!value.empty()) {
        unsigned byte = 0;
        std::string_view const digits = value.substr(std::min<std::size_t>(value.size(), 1), 2);
        auto const [end, ec] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        bool const is_escape = value.front() == '%' && digits.size() == 2 && ec == std::errc{} &&
                               end == digits.data() + 2;
        text += is_escape ? static_cast<char>(byte) : value.front();
        value.remove_prefix(is_escape ? 3 : 1);
    }
    return text;
}

std::string paths_text()
{
    std::string text;
    for (admin_path const& each : paths)
        fmt::format_to(
            std::back_inserter(text), "{:4} {:14} {}\n", each.is_command ? "POST" : "GET",
            each.path, each.help);
    return text;
}

std::string problem_json(std::string_view why)
{
    return fmt::format("{{\"error\": {}}}\n", json_string(why));
}

} // namespace cleat::app
