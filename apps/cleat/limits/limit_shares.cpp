#include "limits/limit_shares.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cmath>

namespace cleat::app {
namespace {

constexpr double deviations = 3;

std::uint32_t with_allowance(std::uint32_t limit, std::size_t workers) noexcept
{
    double const mean = static_cast<double>(limit) / static_cast<double>(workers);
    auto const enough = static_cast<std::uint32_t>(std::ceil(mean + deviations * std::sqrt(mean)));
    return std::max(enough, limits::client_share_min);
}

} // namespace

std::uint32_t lenient_share(std::uint32_t limit, std::size_t workers) noexcept
{
    return workers <= 1 ? limit : std::min(with_allowance(limit, workers), limit);
}

std::uint32_t burst_share(std::uint32_t limit, std::size_t workers) noexcept
{
    return workers <= 1 ? limit : with_allowance(limit, workers);
}

} // namespace cleat::app
