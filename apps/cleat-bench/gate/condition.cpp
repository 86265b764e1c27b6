#include "gate/condition.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

enum class quantity : std::uint8_t
{
    time,
    part,
    rate
};

struct gated
{
    std::string_view name;
    gated_figure figure;
    quantity kind;
    double level = 0;
};

std::vector<gated> gated_figures()
{
    std::vector<gated> found;
    for (percentile_level const& each : percentile_levels)
        found.push_back({each.word, gated_figure::percentile, quantity::time, each.level});
    found.insert(
        found.end(), {{"max", gated_figure::percentile, quantity::time, 100},
                      {"mean", gated_figure::mean, quantity::time},
                      {"failed", gated_figure::failed, quantity::part},
                      {"resumed", gated_figure::resumed, quantity::part},
                      {"rate", gated_figure::rate, quantity::rate}});
    return found;
}

// 50ms, 0.1% or 500/s, as the figure wants it.
std::optional<double> limit_of(std::string_view text, quantity kind)
{
    if (kind == quantity::time) {
        auto const length = parse_length(text);
        bool const has_unit = !text.empty() && text.back() > '9';
        return length && has_unit ? std::optional{static_cast<double>(length->count())}
                                  : std::nullopt;
    }
    if (kind == quantity::part) {
        auto const part = parse_percent(text);
        return part && *part <= 1 ? part : std::nullopt;
    }
    if (text.ends_with("/s"))
        text.remove_suffix(2);
    return parse_number(trimmed(text));
}

constexpr std::string_view limit_form(quantity kind) noexcept
{
    return kind == quantity::time   ? "a length of time, like 50ms"
           : kind == quantity::part ? "a part in percent, like 0.1%"
                                    : "a number per second, like 500/s";
}

condition parse_one(std::string_view text)
{
    condition one;
    one.text = std::string{trimmed(text)};
    std::string_view const words = one.text;
    std::size_t const sign = words.find_first_of("<>");
    std::string_view const name = trimmed(words.substr(0, std::min(sign, words.size())));
    std::vector<gated> const figures = gated_figures();
    auto const known = std::ranges::find(figures, name, &gated::name);
    if (sign == std::string_view::npos || known == figures.end()) {
        std::vector<std::string_view> names;
        for (gated const& each : figures)
            names.push_back(each.name);
        refuse_usage(fmt::format(
            "--fail-if '{}': write FIGURE > LIMIT or FIGURE < LIMIT, like p99 > 50ms; figures are "
            "{}",
            one.text, fmt::join(names, ", ")));
    }
    one.figure = known->figure;
    one.level = known->level;
    one.above = words[sign] == '>';
    std::string_view rest = words.substr(sign + 1);
    one.or_equal = rest.starts_with('=');
    if (one.or_equal)
        rest.remove_prefix(1);
    auto const limit = limit_of(trimmed(rest), known->kind);
    if (!limit)
        refuse_usage(fmt::format(
            "--fail-if '{}': the limit of {} is {}", one.text, name, limit_form(known->kind)));
    one.limit = *limit;
    return one;
}

std::optional<double> as_number(std::optional<std::uint64_t> value)
{
    return value ? std::optional{static_cast<double>(*value)} : std::nullopt;
}

std::optional<double> part_of(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? std::nullopt
                      : std::optional{static_cast<double>(part) / static_cast<double>(whole)};
}

std::optional<double> gated_value(condition const& one, result const& found)
{
    tally const& counts = found.counts;
    switch (one.figure) {
    case gated_figure::percentile:
        return as_number(counts.response_percentile(one.level));
    case gated_figure::mean:
        return counts.ok == 0 ? std::nullopt : std::optional{counts.response.mean()};
    case gated_figure::failed:
        return part_of(counts.failed(), counts.attempts);
    case gated_figure::resumed:
        return part_of(counts.resumed, counts.full + counts.resumed);
    case gated_figure::rate:
        break;
    }
    return found.rate();
}

std::string value_in_words(gated_figure figure, double value)
{
    if (figure == gated_figure::rate)
        return fmt::format("{:.1f}/s", value);
    if (figure == gated_figure::failed || figure == gated_figure::resumed)
        return fmt::format("{:.4g} %", value * 100);
    return in_words(value);
}

} // namespace

std::vector<condition> parse_conditions(std::string const& text)
{
    std::vector<condition> found;
    for (std::string_view const each : comma_separated(text))
        found.push_back(parse_one(each));
    return found;
}

judgement judge_condition(condition const& one, result const& found)
{
    std::optional<double> const value = gated_value(one, found);
    if (!value) {
        // A percentile of failures is beyond every time. A part of nothing meets no limit.
        std::string why =
            found.counts.attempts == 0
                ? "not known: nothing was attempted"
                : fmt::format(
                      "not known: {} of {} failed", found.counts.failed(), found.counts.attempts);
        return {one.text, std::move(why), true};
    }
    bool const failed = one.above ? *value > one.limit : *value < one.limit;
    return {
        one.text, value_in_words(one.figure, *value),
        failed || (one.or_equal && *value == one.limit)};
}

} // namespace cleat::bench
