#include "probe/formatting.hpp"
#include "text/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cleat::bench {

bool has(std::string_view text, std::string_view part) noexcept
{
    return text.find(part) != std::string_view::npos;
}

std::string list_of(std::vector<std::string> const& names, std::string_view none)
{
    return names.empty() ? std::string{none} : fmt::format("{}", fmt::join(names, ", "));
}

std::string counted(std::size_t count, std::string_view what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<std::string> old_versions(probe_report const& report)
{
    std::vector<std::string> names;
    for (probed_version const& each : report.versions)
        if (each.version < wire::version::tls_1_2)
            names.emplace_back(wire::name_of(each.version));
    return names;
}

long days_left(probe_report const& report, tls::shown_certificate const& c)
{
    return std::chrono::floor<days>(c.until - report.when).count();
}

std::string date(std::chrono::sys_seconds time)
{
    std::chrono::year_month_day const day{std::chrono::floor<std::chrono::days>(time)};
    return fmt::format(
        "{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
        static_cast<unsigned>(day.day()));
}

std::string key_of(tls::shown_certificate const& c)
{
    return sized_key(c.key, c.key_bits);
}

} // namespace cleat::bench
