#include "report/holds.hpp"
#include "report/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace cleat::locks {
namespace {

// students_t is the factor for 95 % of Student's distribution.
double students_t(double freedom) noexcept
{
    constexpr std::array few{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
    auto const index = static_cast<std::size_t>(std::max(freedom, 1.0)) - 1;
    return index < few.size() ? few[index] : 1.96 + 2.6 / freedom;
}

} // namespace

double lock_use::holds() const noexcept
{
    auto const all = static_cast<double>(acquisitions + retaken);
    if (sampled == 0)
        return all;
    return all * static_cast<double>(sampled) / static_cast<double>(sampled + inner);
}

hold_estimate lock_use::mean_hold() const noexcept
{
    bool const all = interrupted() == timed();
    auto const part = [all](timed_holds const& from) {
        double const count = static_cast<double>(from.count - (all ? 0 : from.interrupted));
        double const ns =
            static_cast<double>(from.ns - (all ? 0 : std::min(from.ns, from.interrupted_ns)));
        return std::pair{count, ns};
    };
    auto const [few, few_ns] = part(sample);
    auto const [waited_count, waited_ns] = part(waited);
    // Uncontended holds are a sample; contended holds are all timed.
    double const others = few > 0 ? std::max(holds() - static_cast<double>(waited.count), few) : 0;
    double const whole = others + waited_count;
    if (whole <= 0)
        return {};
    double const few_mean = few > 0 ? few_ns / few : 0;
    hold_estimate made;
    made.mean_ns = (waited_ns + others * few_mean) / whole;
    made.low_ns = made.high_ns = made.mean_ns;
    // Without a sample there is nothing to estimate, unless holds are missing.
    made.has_interval = all ? false : few >= 2 || (few == 0 && holds() <= waited_count + 1);
    if (few >= 2 && !all) {
        double const variance = std::max(0.0, (squares - few * few_mean * few_mean) / (few - 1));
        double const missed = std::max(0.0, 1 - few / others);
        double const spread =
            students_t(few - 1) * std::sqrt(variance / few * missed) * others / whole;
        made.low_ns = std::max(0.0, made.mean_ns - spread);
        made.high_ns = made.mean_ns + spread;
    }
    return made;
}

double lock_use::held_with_interrupted_ns() const noexcept
{
    double const others = std::max(0.0, holds() - static_cast<double>(waited.count));
    double const mean =
        sample.count > 0 ? static_cast<double>(sample.ns) / static_cast<double>(sample.count) : 0;
    return static_cast<double>(waited.ns) + others * mean;
}

std::string interrupted_text(lock_use const& use)
{
    std::uint64_t const interrupted = use.interrupted();
    if (interrupted == 0 || interrupted * 10 < use.timed())
        return "";
    if (interrupted == use.timed())
        return fmt::format(
            "interrupted in all of its {} timed holds: held has time without a core in it",
            use.timed());
    return fmt::format(
        "interrupted in {} of its {} timed holds: held is that of the others", interrupted,
        use.timed());
}

std::string interval_text(lock_use const& use)
{
    constexpr double shown = 0.1; // Of the mean.
    hold_estimate const held = use.mean_hold();
    bool const exact = held.has_interval && held.high_ns - held.mean_ns <= shown * held.mean_ns;
    if (exact || use.timed() == use.interrupted())
        return "";
    if (!held.has_interval)
        return fmt::format(
            "held is the mean of {} of its {:.0f} holds: too few to say how exact it is",
            use.timed(), use.holds());
    return fmt::format(
        "held is between {} and {} (95 %): {} of its {:.0f} holds were timed",
        time_text(held.low_ns), time_text(held.high_ns), use.timed(), use.holds());
}

} // namespace cleat::locks
