#include "report/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cleat::bench {
namespace {

// A screen shows no more, and a page of several results stays small.
constexpr std::size_t curve_points_max = 200;

} // namespace

std::vector<double> grid_for(std::uint64_t count)
{
    static constexpr std::array steps{1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 2.8,
                                      3.2, 3.6, 4.0,  4.5, 5.0, 5.6, 6.3, 7.0,  8.0, 9.0};
    auto const most = static_cast<double>(count);
    double const decades = count == 0 ? 0 : std::floor(std::log10(most)) + 1;
    std::size_t const stride =
        (decades + 1) * steps.size() > static_cast<double>(curve_points_max) ? 2 : 1;
    std::vector<double> grid;
    for (double decade = 1; grid.size() < curve_points_max; decade *= 10)
        for (std::size_t i = 0; i < steps.size(); i += stride) {
            grid.push_back(decade * steps[i]);
            if (grid.back() > most)
                return grid;
        }
    return grid;
}

json::array curve_of(latency const& times, std::vector<double> const& grid, std::uint64_t whole)
{
    json::array curve;
    auto const all = static_cast<double>(std::max(times.count(), whole));
    std::uint64_t counted = 0;
    std::size_t next = 0;
    times.for_each_bucket([&](histogram::bucket const& b) {
        counted += b.count;
        // A percentile is reached when as many values are counted as it has below it, at least one.
        while (next != grid.size() && (next == 0 || grid[next - 1] <= all) &&
               std::max(1.0, std::ceil(all - all / grid[next])) <= static_cast<double>(counted)) {
            curve.push_back(std::min(b.highest, times.max()));
            ++next;
        }
    });
    return curve;
}

} // namespace cleat::bench
