// metric_table: every metric of cleat.

#pragma once

#include "admin/admin_facts.hpp"
#include "admin/metric.hpp"
#include "admin/process_numbers.hpp"
#include "counts/worker_counts.hpp"
#include "liveness/worker_probe.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// worker_source is where the numbers of a worker come from.
struct worker_source
{
    worker_counts const* counts = nullptr;
    net::worker const* worker = nullptr;
    worker_probe* probe = nullptr;
};

/// metric_sources is what metrics are read from.
struct metric_sources
{
    std::span<worker_source const> workers;
    admin_facts const& facts;
    process_numbers process;
    std::chrono::system_clock::time_point now{};
    bool is_draining = false;
};

/// metric_table has a row for each metric, in the order in which they are shown.
[[nodiscard]] std::span<metric_row const> metric_table() noexcept;

/// read_metrics reads every metric. Any thread; workers may write meanwhile.
[[nodiscard]] std::vector<metric_family> read_metrics(metric_sources const& sources);

/// metrics_reference is the page docs/reference/metrics.md.
[[nodiscard]] std::string metrics_reference();

} // namespace cleat::app
