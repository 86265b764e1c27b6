#include "result/metric.hpp"

namespace cleat::bench {

std::string_view name_of(activity kind) noexcept
{
    return activity_names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(metric figure) noexcept
{
    switch (figure) {
    case metric::cpu:
        return "cpu_ns";
    case metric::rate:
        return "rate";
    case metric::p50:
        return "p50_ns";
    case metric::p99:
        return "p99_ns";
    case metric::memory:
        return "memory_bytes";
    case metric::system_calls:
        return "system_calls";
    case metric::workers_ratio:
        break;
    }
    return "workers_ratio";
}

metric judged_by(std::string_view kind, bool has_rate) noexcept
{
    if (kind == name_of(activity::idle))
        return metric::memory;
    if (kind == name_of(activity::system_calls))
        return metric::system_calls;
    if (kind == name_of(activity::workers))
        return metric::workers_ratio;
    return has_rate || kind == name_of(activity::established) ? metric::p99 : metric::cpu;
}

} // namespace cleat::bench
