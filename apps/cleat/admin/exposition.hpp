// exposition: metrics as Prometheus reads them, and as JSON.

#pragma once

#include "admin/metric.hpp"

#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// exposition_format is a text format of metrics.
enum class exposition_format : std::uint8_t
{
    prometheus,  ///< The text format 0.0.4, which every version of Prometheus reads.
    openmetrics, ///< OpenMetrics 1.0.
};

/// choose_format is the format that an Accept header (RFC 9110, section 12.5.1) prefers:
/// OpenMetrics where it is named with no lower weight than plain text.
[[nodiscard]] exposition_format choose_format(std::string_view accept) noexcept;

/// content_type is the format's media type.
[[nodiscard]] std::string_view content_type(exposition_format format) noexcept;

/// expose writes the metrics in a format. A metric without samples has its HELP and TYPE only.
[[nodiscard]] std::string expose(std::span<metric_family const> metrics, exposition_format format);

/// metrics_json is an object: by full name the type, and an array of samples.
[[nodiscard]] std::string metrics_json(std::span<metric_family const> metrics);

} // namespace cleat::app
