// window: a part of a recording, so that set-up and shutdown are not in its figures.
//
// A mark copies the traces of all processes as they are: PID.begin and PID.end beside PID.trace. A
// reader subtracts the first from the second, or from the trace.

#pragma once

#include "report/trace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>

namespace cleat::locks {

enum class window_edge : std::uint8_t
{
    begin,
    end
};

/// edge_copy is the copy that a mark makes of a trace: PID.begin or PID.end beside it.
[[nodiscard]] std::filesystem::path edge_copy(std::filesystem::path const& trace, window_edge edge);

/// mark begins or ends the window of the trace in a folder, and gives the number of its processes.
/// Throws std::runtime_error: there is no trace, or it cannot be copied.
std::size_t mark(std::filesystem::path const& folder, window_edge edge);

/// window_times are the seconds from a program's start at which its window begins and ends.
struct window_times
{
    std::optional<double> from;
    std::optional<double> to;
};

/// mark_at calls `marks` at each of the times, unless its caller stops it before. It gives the
/// first edge that it did not reach.
std::optional<window_edge> mark_at(
    window_times const& times, std::stop_token const& stop,
    std::function<void(window_edge)> const& marks);

/// subtract takes the counts as the window began off those as it ended.
void subtract(traced_process& whole, traced_process const& before);

} // namespace cleat::locks
