#include "admin/admin_pages.hpp"
#include "inspect/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace cleat::app {
namespace {

constexpr std::array<admin_path, 7> paths{{
    {"/", admin_page::root, false, "this list; for a browser a live status page"},
    {"/metrics", admin_page::metrics, false, "for Prometheus: its text format, or OpenMetrics"},
    {"/status.json", admin_page::status, false,
     "the process, workers, certificates that end first, failures, settings, and every metric"},
    {"/healthz", admin_page::health, false, "200 while every worker answers, else 503"},
    {"/readyz", admin_page::readiness, false, "200 while cleat accepts connections, else 503"},
    {"/reload", admin_page::reload, true,
     "read the configuration and its files again, and wait for the outcome"},
    {"/drain", admin_page::drain, true,
     "accept no more connections, and end with the last one, as SIGTERM does"},
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

std::string paths_text()
{
    std::string text;
    for (admin_path const& each : paths)
        fmt::format_to(
            std::back_inserter(text), "{:4} {:13} {}\n", each.is_command ? "POST" : "GET",
            each.path, each.help);
    return text;
}

std::string problem_json(std::string_view why)
{
    return fmt::format("{{\"error\": {}}}\n", json_string(why));
}

} // namespace cleat::app
