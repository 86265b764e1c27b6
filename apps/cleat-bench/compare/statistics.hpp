// statistics: medians and ratios over several rounds.

#pragma once

#include "result/metric.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {

/// median of at least one value; the mean of the middle two if their number is even.
[[nodiscard]] double median(std::vector<double> values);

/// finding is what a ratio shows.
enum class finding : std::uint8_t
{
    one_round,     ///< Nothing: one figure has no spread.
    too_few,       ///< Nothing: so few rounds are on one side by chance.
    no_difference, ///< The spread includes 1.
    less,          ///< In every round.
    more           ///< In every round.
};

/// ratio of a server's figure to the base's, each taken within one round, because machines drift.
struct ratio
{
    double median = 0;
    double min = 0;
    double max = 0;
    std::size_t rounds = 0;

    [[nodiscard]] finding verdict() const noexcept;
};

/// ratio_of the rounds in which both have a figure; unset if there is none.
[[nodiscard]] std::optional<ratio> ratio_of(
    std::span<std::optional<double> const> server, std::span<std::optional<double> const> base);

/// in_words is "1.83 (1.80..1.90)", with "no difference shown" if the spread includes 1.
[[nodiscard]] std::string in_words(ratio const& value);

/// slope of the line through points (x, y) with the least squares; at least two different x.
[[nodiscard]] double slope(std::span<std::pair<double, double> const> points);

} // namespace cleat::bench
