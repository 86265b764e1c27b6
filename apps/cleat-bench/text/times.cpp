#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/times.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <span>
#include <stdexcept>

namespace cleat::bench {
namespace {

struct unit
{
    std::string_view name;
    double factor;
};

std::optional<double> parse_with(std::string_view text, std::span<unit const> units)
{
    std::optional<double> const value = take_number(text);
    if (!value)
        return std::nullopt;
    std::string_view const name = trimmed(text);
    for (unit const& each : units)
        if (name == each.name)
            return *value * each.factor;
    return std::nullopt;
}

std::string with_unit(double value, std::span<unit const> units)
{
    unit const* chosen = &units.front();
    for (unit const& each : units)
        if (value >= each.factor)
            chosen = &each;
    double const scaled = value / chosen->factor;
    int const digits = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
    return fmt::format("{:.{}f} {}", scaled, digits, chosen->name);
}

} // namespace

std::string in_utc(std::chrono::system_clock::time_point t)
{
    auto const us = std::chrono::floor<std::chrono::microseconds>(t);
    auto const s = std::chrono::floor<std::chrono::seconds>(us);
    return fmt::format(
        "{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(s)),
        (us - s).count());
}

std::chrono::system_clock::time_point from_utc(std::string const& text)
{
    std::tm parts{};
    char const* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (rest == nullptr)
        throw std::runtime_error{fmt::format("'{}' is no time like 2026-11-21T20:00:00Z", text)};
    std::chrono::system_clock::time_point found =
        std::chrono::system_clock::from_time_t(::timegm(&parts));
    std::string_view fraction{rest};
    if (fraction.starts_with('.')) {
        fraction.remove_prefix(1);
        auto worth = std::chrono::nanoseconds{100'000'000};
        while (!fraction.empty() && fraction.front() >= '0' && fraction.front() <= '9') {
            found += worth * (fraction.front() - '0');
            worth /= 10;
            fraction.remove_prefix(1);
        }
    }
    if (fraction != "Z")
        throw std::runtime_error{fmt::format("'{}' does not end with Z: give it in UTC", text)};
    return found;
}

std::optional<std::chrono::nanoseconds> parse_length(std::string_view text)
{
    static constexpr std::array<unit, 7> units{
        {{"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
    auto const found = parse_with(text, units);
    if (!found || *found > 1e18)
        return std::nullopt;
    return std::chrono::nanoseconds{std::llround(*found)};
}

std::optional<std::uint64_t> parse_size(std::string_view text)
{
    static constexpr std::array<unit, 8> units{
        {{"", 1},
         {"B", 1},
         {"K", 0x1p10},
         {"M", 0x1p20},
         {"G", 0x1p30},
         {"KiB", 0x1p10},
         {"MiB", 0x1p20},
         {"GiB", 0x1p30}}};
    auto const found = parse_with(text, units);
    if (!found || *found > 1e18 || *found != std::floor(*found))
        return std::nullopt;
    return static_cast<std::uint64_t>(*found);
}

std::string in_words(double ns)
{
    static constexpr std::array<unit, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
    return with_unit(ns, units);
}

std::string bytes_in_words(double bytes)
{
    static constexpr std::array<unit, 5> units{
        {{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};
    return with_unit(bytes, units);
}

} // namespace cleat::bench
