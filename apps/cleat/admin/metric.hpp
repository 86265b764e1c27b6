// metric: one metric with its samples, as it is shown to Prometheus and in JSON.

#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// metric_type is the type in OpenMetrics. The older text format has no info, which is a gauge
/// there.
enum class metric_type : std::uint8_t
{
    counter,
    gauge,
    histogram,
    info,
};

/// metric_label is a name of the table's, and a value.
struct metric_label
{
    std::string_view name;
    std::string value;
};
using metric_labels = std::vector<metric_label>;

struct metric_value
{
    metric_labels labels;
    double number = 0;
};

/// metric_histogram is one of time_counts.
struct metric_histogram
{
    std::span<std::chrono::nanoseconds const> bounds;
    metric_labels labels;
    std::vector<std::uint64_t> counts; ///< By bucket, not added up.
    double sum = 0;
};

struct metric_sources;
struct metric_family;

/// metric_row is what the table says of a metric.
struct metric_row
{
    std::string_view name; ///< Without _total and _info; it ends with the unit, where there is one.
    metric_type type;
    std::string_view unit;   ///< "seconds", "bytes", or empty.
    std::string_view help;   ///< A sentence without a full stop.
    std::string_view labels; ///< The names, with ", " between them.
    void (*read)(metric_sources const& sources, metric_family& family);
};

/// metric_family is a metric with its samples of one moment.
struct metric_family
{
    metric_row const& row;
    std::vector<metric_value> values{};
    std::vector<metric_histogram> histograms{};

    void add(double number, metric_labels labels = {})
    {
        values.push_back({std::move(labels), number});
    }
};

/// full_name is the name of a metric's samples: with _total for a counter, _info for an info.
[[nodiscard]] std::string full_name(metric_row const& row);

/// name_of is the type as HELP and TYPE lines spell it.
[[nodiscard]] std::string_view name_of(metric_type type) noexcept;

} // namespace cleat::app
