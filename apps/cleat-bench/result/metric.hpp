// metric: the figures that servers are compared by, and the kinds of load that choose among them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::bench {

/// activity is what a scenario's clients do.
enum class activity : std::uint8_t
{
    handshake,     ///< Connect, shake hands, ask, take the answer, close.
    transfer_down, ///< Ask for bytes, again and again on the same connection.
    transfer_up,   ///< Send bytes, once for each connection.
    idle,          ///< Connect, shake hands, and send nothing.
    established,   ///< Ask on kept connections, while others keep the server busy.
    system_calls,  ///< As handshake, while the server's system calls are counted.
    workers        ///< As handshake, with one worker of the server and with two.
};

/// activity_names are the words of scenarios and documents, in the order of `activity`.
inline constexpr std::array<std::string_view, 7> activity_names{
    "handshake", "transfer-down", "transfer-up", "idle", "established", "system-calls", "workers"};

[[nodiscard]] std::string_view name_of(activity kind) noexcept;

/// metric is a figure that servers are compared by.
enum class metric : std::uint8_t
{
    cpu,    ///< ns of the server's processes for an operation (operation_name).
    rate,   ///< Operations per second; bytes per second of a transfer.
    p50,    ///< ns of response.
    p99,    ///< ns of response.
    memory, ///< Bytes (PSS, without pages of files) of the server's processes after the run; when
            ///< idle, of a connection.
    system_calls, ///< Of the server's processes for an operation.
    workers_ratio ///< CPU for an operation with two workers over that with one.
};
inline constexpr std::array metrics{metric::cpu,          metric::rate,   metric::p50,
                                    metric::p99,          metric::memory, metric::system_calls,
                                    metric::workers_ratio};

/// name_of a metric in JSON: "cpu_ns", "rate", "p50_ns", "p99_ns", "memory_bytes", "system_calls",
/// "workers_ratio".
[[nodiscard]] std::string_view name_of(metric figure) noexcept;

/// rounds_min is how many rounds a finding needs: two rounds of equal servers are on one side as
/// often as not. rounds_enough rounds are on one side by chance in one of 16 comparisons.
inline constexpr std::size_t rounds_min = 3;
inline constexpr std::size_t rounds_enough = 5;

/// judged_by is the metric that decides in a scenario of that kind: memory of idle connections, the
/// count of system calls and the ratio of two workers where these are measured, p99 at a rate and
/// on established connections, and else CPU.
[[nodiscard]] metric judged_by(std::string_view kind, bool has_rate) noexcept;

} // namespace cleat::bench
