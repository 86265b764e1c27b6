#include "gate/baseline.hpp"
#include "result/result_json.hpp"
#include "system/files.hpp"
#include "text/numbers.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

// Standard deviations that chance is granted: it makes more in one of 22 cases.
constexpr double deviations = 2;
// Loads whose rates are further apart were not asked for the same rate.
constexpr double asked_tolerance = 0.01;

// range is where a figure can be by chance.
struct range
{
    double value = 0;
    double least = 0;
    double most = 0;
};

// The rate, with the spread of the intervals that lie wholly in the measured time.
range rate_of(result const& of_run)
{
    range found{of_run.rate(), of_run.rate(), of_run.rate()};
    double const step = in_seconds(of_run.counts.interval_length);
    auto const whole = std::min(
        of_run.counts.timeline.size(),
        static_cast<std::size_t>(in_seconds(of_run.measured) / step + 1e-9));
    if (whole < 3)
        return found;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i != whole; ++i) {
        double const each = static_cast<double>(of_run.counts.timeline[i].ok) / step;
        sum += each;
        squares += each * each;
    }
    double const count = static_cast<double>(whole);
    double const variance = std::max(0.0, squares / count - sum / count * (sum / count));
    double const spread = deviations * std::sqrt(variance / (count - 1));
    found.least -= spread;
    found.most += spread;
    return found;
}

// A percentile, with those of the ranks that chance may give it.
std::optional<range> percentile_range(tally const& counts, double level)
{
    auto const value = counts.response_percentile(level);
    if (!value)
        return std::nullopt;
    double const part = level / 100;
    double const spread =
        100 * deviations * std::sqrt(part * (1 - part) / static_cast<double>(counts.attempts));
    auto const least = counts.response_percentile(std::max(level - spread, 0.0));
    auto const most = counts.response_percentile(std::min(level + spread, 100.0));
    return range{
        static_cast<double>(*value), static_cast<double>(least.value_or(*value)),
        static_cast<double>(most.value_or(counts.response.max()))};
}

std::string change(double before, double after)
{
    return before > 0 ? fmt::format("{:+.1f} %", 100 * (after / before - 1)) : "not comparable";
}

// More is worse. A figure that is known no more, because of failures, is worse than any.
judgement judge_more(
    std::string_view name, std::optional<range> const& before, std::optional<range> const& after,
    double tolerance)
{
    std::string const condition = fmt::format("{} worse by {:g} %", name, tolerance * 100);
    if (!before)
        return {condition, "not known in the baseline", false};
    if (!after)
        return {condition, "not known: too many failed", true};
    bool const is_more = after->value > before->value * (1 + tolerance);
    bool const by_chance = after->least <= before->most;
    return {
        condition,
        fmt::format(
            "{}, before {}: {}{}", in_words(after->value), in_words(before->value),
            change(before->value, after->value),
            is_more && by_chance ? ", which chance makes too" : ""),
        is_more && !by_chance};
}

judgement judge_rate(range const& before, range const& after, double tolerance)
{
    bool const is_less = after.value < before.value * (1 - tolerance);
    bool const by_chance = after.most >= before.least;
    return {
        fmt::format("rate worse by {:g} %", tolerance * 100),
        fmt::format(
            "{:.1f}/s, before {:.1f}/s: {}{}", after.value, before.value,
            change(before.value, after.value),
            is_less && by_chance ? ", which chance makes too" : ""),
        is_less && !by_chance};
}

double failed_part(tally const& counts)
{
    return counts.attempts == 0
               ? 0
               : static_cast<double>(counts.failed()) / static_cast<double>(counts.attempts);
}

// chance_of_parts is how far two parts of so many attempts differ by chance, if both servers fail
// alike.
double chance_of_parts(tally const& before, tally const& after)
{
    auto const n = static_cast<double>(before.attempts);
    auto const m = static_cast<double>(after.attempts);
    if (n == 0 || m == 0)
        return 1;
    double const both = static_cast<double>(before.failed() + after.failed()) / (n + m);
    return deviations * std::sqrt(both * (1 - both) * (1 / n + 1 / m));
}

// A tolerance in points would let a server that never failed fail that often.
judgement judge_failed(tally const& before, tally const& after, double tolerance)
{
    double const was = failed_part(before);
    double const is = failed_part(after);
    bool const is_more = is > was * (1 + tolerance);
    bool const by_chance = is - was <= chance_of_parts(before, after);
    return {
        fmt::format("failed worse by {:g} %", tolerance * 100),
        fmt::format(
            "{:.3g} %, before {:.3g} %{}", is * 100, was * 100,
            is_more && by_chance ? ", which chance makes too" : ""),
        is_more && !by_chance};
}

std::optional<range> server_cpu(result const& of_run)
{
    if (!of_run.server || of_run.counts.ok == 0)
        return std::nullopt;
    double const each =
        static_cast<double>(of_run.server->cpu.count()) / static_cast<double>(of_run.counts.ok);
    return range{each, each, each};
}

// The kind of a load, as its settings have it: "open loop", "closed loop" or "kept connections".
std::string_view loop_kind(std::vector<fact> const& asked, std::optional<double> rate)
{
    for (auto const& [name, value] : asked)
        if (name == "open loop" || name == "closed loop" || name == "kept connections")
            return name;
    return rate ? "open loop" : "closed loop";
}

// The use that a load makes of a protocol, "WebSocket" or "HTTP/2"; empty where it makes none.
std::string_view use_of(std::vector<fact> const& asked, std::string_view protocol)
{
    auto const found = std::ranges::find(asked, protocol, &fact::first);
    return found == asked.end() ? std::string_view{} : std::string_view{found->second};
}

// Why a baseline says nothing of a load; empty where it is of the same kind and rate.
std::string difference(
    result const& baseline, std::vector<fact> const& asked, std::optional<double> rate)
{
    std::string_view const before = loop_kind(baseline.asked, baseline.rate_asked);
    std::string_view const now = loop_kind(asked, rate);
    if (before != now)
        return fmt::format("it is of the kind '{}', and this load of the kind '{}'", before, now);
    for (std::string_view const protocol : {"WebSocket", "HTTP/2"}) {
        std::string_view const use_before = use_of(baseline.asked, protocol);
        std::string_view const use = use_of(asked, protocol);
        if (use_before != use)
            return fmt::format(
                "its {}: '{}', and that of this load: '{}'",
                protocol == "WebSocket" ? "use of WebSockets" : protocol,
                use_before.empty() ? "none" : use_before, use.empty() ? "none" : use);
    }
    if (rate && std::abs(*rate / baseline.rate_asked.value_or(0) - 1) >= asked_tolerance)
        return fmt::format(
            "its rate is {:.6g}/s, and that of this load {:.6g}/s", baseline.rate_asked.value_or(0),
            *rate);
    return {};
}

} // namespace

double parse_tolerance(std::string const& text)
{
    std::optional<double> const part = parse_percent(text);
    if (!part || *part > 1)
        refuse_usage(fmt::format("--tolerance {}: a part in percent up to 100%, like 5%", text));
    return *part;
}

result read_baseline(
    std::string const& path, std::vector<fact> const& asked, std::optional<double> rate)
try {
    load_document found = read_load(read_file(path), path);
    std::string const why = found.subcommand == "load"
                                ? difference(found.content, asked, rate)
                                : fmt::format("it is the result of a {}", found.subcommand);
    if (!why.empty())
        throw std::runtime_error{fmt::format("{}: {}", path, why)};
    return std::move(found.content);
} catch (std::runtime_error const& e) {
    refuse_usage(fmt::format(
        "--baseline {}: name a file that `load --json` of this version wrote for the same command "
        "line",
        e.what()));
}

std::vector<judgement> judge_against(result const& baseline, result const& found, double tolerance)
{
    std::vector<judgement> judged{judge_rate(rate_of(baseline), rate_of(found), tolerance)};
    for (auto const& [name, level] : {std::pair{"p50", 50.0}, {"p99", 99.0}})
        judged.push_back(judge_more(
            name, percentile_range(baseline.counts, level), percentile_range(found.counts, level),
            tolerance));
    judged.push_back(judge_failed(baseline.counts, found.counts, tolerance));
    if (baseline.server && found.server)
        judged.push_back(
            judge_more("server's CPU", server_cpu(baseline), server_cpu(found), tolerance));
    return judged;
}

} // namespace cleat::bench
