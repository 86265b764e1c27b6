#include "report/off_cpu_text.hpp"
#include "report/quantities.hpp"
#include "report/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

namespace cleat::locks {
namespace {

constexpr std::size_t kinds_shown = 6;
constexpr double kind_least_ns = 500'000; // Less is noise beside a sample's period.

std::string place_text(off_cpu_place const& place)
{
    return fmt::format(
        "{}{}{}", place.call, place.object.empty() ? "" : " " + place.object,
        place.function.empty() ? "" : ", in " + short_name(place.function));
}

} // namespace

std::vector<std::pair<std::string, double>> off_cpu_kinds(profile const& recorded)
{
    off_cpu_parts const parts = recorded.off_cpu_time();
    std::map<std::string, double> kinds;
    double sampled = 0;
    for (off_cpu_place const& each : recorded.off_cpu)
        sampled += static_cast<double>(each.ns);
    auto const unrecorded = static_cast<double>(parts.unrecorded_ns());
    // The samples divide what the clocks measured.
    for (off_cpu_place const& each : recorded.off_cpu)
        kinds[each.call == "futex" ? "futexes that were not recorded" : each.call] +=
            unrecorded * static_cast<double>(each.ns) / sampled;
    if (sampled <= 0)
        kinds["places that were not sampled"] += unrecorded;
    kinds["conditions"] += static_cast<double>(parts.condition_ns);
    kinds["semaphores"] += static_cast<double>(parts.semaphore_ns);
    kinds["pthread_once"] += static_cast<double>(parts.once_ns);
    kinds["futexes of the program's own"] += static_cast<double>(parts.futex_ns);
    kinds["no core to run on"] += static_cast<double>(parts.no_core_outside_ns());
    std::vector<std::pair<std::string, double>> made{kinds.begin(), kinds.end()};
    std::erase_if(made, [](auto const& each) { return each.second < kind_least_ns; });
    std::ranges::stable_sort(made, std::greater{}, [](auto const& each) { return each.second; });
    return made;
}

std::string off_cpu_heading(profile const& recorded)
{
    auto const unexplained = static_cast<double>(recorded.off_cpu_time().unexplained_ns());
    if (recorded.thread_ns == 0)
        return "";
    std::string text = fmt::format(
        "{:6.2f} %  of it was spent off the CPU, and no lock below explains that ({})\n",
        100 * unexplained / static_cast<double>(recorded.thread_ns), time_text(unexplained));
    std::vector<std::string> parts;
    std::vector<std::pair<std::string, double>> const kinds = off_cpu_kinds(recorded);
    for (auto const& [kind, ns] : first_rows(kinds, kinds_shown))
        parts.push_back(fmt::format("{} {}", time_text(ns), kind));
    if (kinds.size() > kinds_shown)
        parts.push_back(fmt::format("{} more", kinds.size() - kinds_shown));
    if (!parts.empty())
        fmt::format_to(std::back_inserter(text), "          in: {}\n", fmt::join(parts, ", "));
    for (std::string const& why : recorded.not_sampled)
        fmt::format_to(std::back_inserter(text), "          not sampled: {}\n", why);
    return text;
}

std::string off_cpu_table(profile const& recorded, std::size_t most)
{
    if (recorded.off_cpu.empty())
        return "";
    std::string text = fmt::format(
        "\nOff the CPU in no recorded wait, by {} samples: a wait for work, or for a lock that is "
        "not seen\n{:>9} {:>8}  {:<15} {}\n",
        count_text(recorded.off_cpu_samples), "time", "thread", "name", "in");
    for (off_cpu_place const& each : first_rows(recorded.off_cpu, most))
        fmt::format_to(
            std::back_inserter(text), "{:>9} {:>8}  {:<15} {}\n",
            time_text(static_cast<double>(each.ns)), each.tid, each.thread, place_text(each));
    return text + more_text(recorded.off_cpu.size(), most);
}

} // namespace cleat::locks
