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
     "accept no more connections, and end with the last one, as SIGTERM does"},
    {"/log-level", admin_page::log_level, true,
     "?level=0, 1 or 2: log down to that level; ?level=configured: as the configuration says"},
    {"/server", admin_page::server, true,
     "?upstream=NAME&server=ADDRESS with state=drain or ready, or weight=NUM or configured"},
}};

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
    std::size_t const begin = target.find('?');
    if (begin == target.npos)
        return {};
    for (std::string_view rest = target.substr(begin + 1); !rest.empty();) {
        std::string_view const pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
        if (pair.starts_with(key) && pair.substr(key.size()).starts_with('='))
            return pair.substr(key.size() + 1);
    }
    return {};
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
