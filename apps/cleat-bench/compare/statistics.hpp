// statistics: what is made of the figures of several rounds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cleat::bench {

/// median of values, of which there is at least one; the mean of the middle two where they are
/// even in number.
[[nodiscard]] double median(std::vector<double> values);

/// finding is what a ratio says.
enum class finding : std::uint8_t
{
    one_round,     ///< Nothing: one figure has no spread.
    no_difference, ///< The spread includes 1.
    less,          ///< Every round says so.
    more
};

/// ratio of a server to the one that it is compared with: each taken within one round, because
/// machines drift.
struct ratio
{
    double median = 0;
    double min = 0;
    double max = 0;
    std::size_t rounds = 0;

    [[nodiscard]] finding says() const noexcept;
};

/// ratio_of the rounds that both have a figure for; nothing where there is none.
[[nodiscard]] std::optional<ratio> ratio_of(
    std::span<std::optional<double> const> server, std::span<std::optional<double> const> base);

/// in_words is "1.83 (1.80..1.90)", with "no difference shown" where that is so.
[[nodiscard]] std::string in_words(ratio const& of);

/// slope of the line through points (x, y) with the least squares; at least two different x.
[[nodiscard]] double slope(std::span<std::pair<double, double> const> points);

} // namespace cleat::bench
