// The formats: https://prometheus.io/docs/instrumenting/exposition_formats/ and the OpenMetrics
// specification 1.0.

#include "admin/accept_header.hpp"
#include "admin/exposition.hpp"
#include "inspect/json_text.hpp"
#include "system/utf8.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <iterator>

namespace cleat::app {
namespace {

using output = std::back_insert_iterator<std::string>;

// Both formats escape these in a label's value. In a help text the older one leaves quotes alone.
std::string with_escapes(std::string_view text, bool with_quotes)
{
    std::string out;
    out.reserve(text.size());
    for (char const c : text) {
        if (c == '\n')
            out += "\\n";
        else if (c == '\\' || (c == '"' && with_quotes))
            out += {'\\', c};
        else
            out += c;
    }
    return out;
}

// Both formats and JSON are UTF-8, which a file's name need not be. Two series never have the same
// labels: Prometheus refuses the whole scrape then.
std::string shown_value(metric_label const& label)
{
    return distinct_utf8(label.value);
}

double in_seconds(std::chrono::nanoseconds time) noexcept
{
    return std::chrono::duration<double>{time}.count();
}

class writer
{
public:
    explicit writer(exposition_format format) noexcept : format_{format} {}

    void write(metric_family const& family)
    {
        write_head(family.row);
        for (metric_value const& each : family.values)
            write_sample(full_name(family.row), each.labels, each.number);
        for (metric_histogram const& each : family.histograms)
            write_histogram(family.row.name, each);
    }

    std::string take()
    {
        if (format_ == exposition_format::openmetrics)
            text_ += "# EOF\n";
        return std::move(text_);
    }

private:
    void write_head(metric_row const& row)
    {
        bool const is_open = format_ == exposition_format::openmetrics;
        // The older format names the samples, the newer one the family.
        std::string const name = is_open ? std::string{row.name} : full_name(row);
        std::string_view const type =
            !is_open && row.type == metric_type::info ? "gauge" : name_of(row.type);
        fmt::format_to(output{text_}, "# HELP {} {}\n", name, with_escapes(row.help, is_open));
        fmt::format_to(output{text_}, "# TYPE {} {}\n", name, type);
        if (is_open && !row.unit.empty())
            fmt::format_to(output{text_}, "# UNIT {} {}\n", name, row.unit);
    }

    // `bound` is the bucket's, where it is one.
    void write_sample(
        std::string_view name, metric_labels const& labels, double number,
        std::string_view bound = {})
    {
        text_ += name;
        char before = '{';
        for (metric_label const& each : labels) {
            fmt::format_to(
                output{text_}, "{}{}=\"{}\"", before, each.name,
                with_escapes(shown_value(each), true));
            before = ',';
        }
        if (!bound.empty()) {
            fmt::format_to(output{text_}, "{}le=\"{}\"", before, bound);
            before = ',';
        }
        fmt::format_to(output{text_}, "{}{}\n", before == ',' ? "} " : " ", number);
    }

    void write_histogram(std::string_view name, metric_histogram const& histogram)
    {
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
            below += histogram.counts[i];
            // OpenMetrics writes whole bounds as 1.0, so that both formats give one series.
            std::string bound = "+Inf";
            if (i < histogram.bounds.size()) {
                bound = fmt::to_string(in_seconds(histogram.bounds[i]));
                if (bound.find('.') == std::string::npos)
                    bound += ".0";
            }
            write_sample(
                fmt::format("{}_bucket", name), histogram.labels, static_cast<double>(below),
                bound);
        }
        write_sample(fmt::format("{}_sum", name), histogram.labels, histogram.sum);
        write_sample(fmt::format("{}_count", name), histogram.labels, static_cast<double>(below));
    }

    exposition_format format_;
    std::string text_;
};

std::string labels_json(metric_labels labels)
{
    for (metric_label& each : labels)
        each.value = shown_value(each);
    return json_object(labels);
}

std::string histogram_json(metric_histogram const& histogram)
{
    std::string buckets;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        below += histogram.counts[i];
        bool const is_last = i == histogram.bounds.size();
        std::string const bound =
            is_last ? "null" : fmt::to_string(in_seconds(histogram.bounds[i]));
        fmt::format_to(
            output{buckets}, "{}{{\"le\": {}, \"count\": {}}}", i == 0 ? "" : ", ", bound, below);
    }
    return fmt::format(
        "{{\"labels\": {}, \"count\": {}, \"sum\": {}, \"buckets\": [{}]}}",
        labels_json(histogram.labels), below, histogram.sum, buckets);
}

std::string family_json(metric_family const& family)
{
    std::string samples;
    auto const add = [&samples](std::string const& each) {
        samples.append(samples.empty() ? "" : ", ").append(each);
    };
    for (metric_value const& each : family.values)
        add(fmt::format(
            "{{\"labels\": {}, \"value\": {}}}", labels_json(each.labels), each.number));
    for (metric_histogram const& each : family.histograms)
        add(histogram_json(each));
    return fmt::format(
        "{}: {{\"type\": {}, \"samples\": [{}]}}", json_string(full_name(family.row)),
        json_string(name_of(family.row.type)), samples);
}

} // namespace

std::string full_name(metric_row const& row)
{
    std::string name{row.name};
    if (row.type == metric_type::counter)
        name += "_total";
    if (row.type == metric_type::info)
        name += "_info";
    return name;
}

std::string_view name_of(metric_type type) noexcept
{
    switch (type) {
    case metric_type::counter:
        return "counter";
    case metric_type::gauge:
        return "gauge";
    case metric_type::histogram:
        return "histogram";
    case metric_type::info:
        return "info";
    }
    return "unknown";
}

exposition_format choose_format(std::string_view accept) noexcept
{
    double const open = weight_of("application/openmetrics-text", accept);
    return open > 0 && open >= weight_of("text/plain", accept) ? exposition_format::openmetrics
                                                               : exposition_format::prometheus;
}

std::string_view content_type(exposition_format format) noexcept
{
    return format == exposition_format::openmetrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

std::string expose(std::span<metric_family const> metrics, exposition_format format)
{
    writer text{format};
    for (metric_family const& each : metrics)
        text.write(each);
    return text.take();
}

std::string metrics_json(std::span<metric_family const> metrics)
{
    std::string text = "{";
    for (metric_family const& each : metrics)
        text.append(text.size() == 1 ? "" : ", ").append(family_json(each));
    return text + "}";
}

} // namespace cleat::app
