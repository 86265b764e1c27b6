#include "compare/statistics.hpp"

#include <cleat/core/assert.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::bench {

double median(std::vector<double> values)
{
    CLEAT_ASSERT(!values.empty());
    std::ranges::sort(values);
    std::size_t const middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

finding ratio::verdict() const noexcept
{
    if (rounds < 2)
        return finding::one_round;
    if (min <= 1 && max >= 1)
        return finding::no_difference;
    if (rounds < rounds_min)
        return finding::too_few;
    return max < 1 ? finding::less : finding::more;
}

std::optional<ratio> ratio_of(
    std::span<std::optional<double> const> server, std::span<std::optional<double> const> base)
{
    std::vector<double> found;
    for (std::size_t i = 0; i != std::min(server.size(), base.size()); ++i)
        if (server[i] && base[i] && *base[i] > 0)
            found.push_back(*server[i] / *base[i]);
    if (found.empty())
        return std::nullopt;
    auto const [least, most] = std::ranges::minmax(found);
    return ratio{median(found), least, most, found.size()};
}

std::string in_words(ratio const& value)
{
    if (value.verdict() == finding::one_round)
        return fmt::format("{:.2f} (one round)", value.median);
    return fmt::format(
        "{:.2f} ({:.2f}..{:.2f}){}", value.median, value.min, value.max,
        value.verdict() == finding::no_difference ? " no difference shown"
        : value.verdict() == finding::too_few     ? " too few rounds"
                                                  : "");
}

double slope(std::span<std::pair<double, double> const> points)
{
    double const count = static_cast<double>(points.size());
    double x_mean = 0;
    double y_mean = 0;
    for (auto const& [x, y] : points) {
        x_mean += x / count;
        y_mean += y / count;
    }
    double numerator = 0;
    double denominator = 0;
    for (auto const& [x, y] : points) {
        numerator += (x - x_mean) * (y - y_mean);
        denominator += (x - x_mean) * (x - x_mean);
    }
    CLEAT_ASSERT(denominator > 0);
    return numerator / denominator;
}

} // namespace cleat::bench
