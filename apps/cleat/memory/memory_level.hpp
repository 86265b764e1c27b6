// memory_level: how short memory is, beside what max-memory allows, and how many connections may
// still begin.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

/// memory_level says what gives way: docs/decisions/max-memory.md has the order.
enum class memory_level : std::uint8_t
{
    normal, ///< Nothing.
    tight,  ///< Buffers are small, and unfinished handshakes and free memory go.
    full,   ///< New connections are refused too, and those that have stalled go.
};

/// to_string is the name in the log.
[[nodiscard]] constexpr std::string_view to_string(memory_level level) noexcept
{
    return level == memory_level::normal  ? "normal"
           : level == memory_level::tight ? "tight"
                                          : "full";
}

/// memory_reading is what the gauge shows.
struct memory_reading
{
    std::uint64_t in_use = 0;      ///< Bytes.
    std::uint64_t connections = 0; ///< Open ones.
    std::uint64_t half_open = 0;   ///< Those of them whose handshake is not finished.
};

/// memory_share is what the gauge's thread tells each worker.
struct memory_share
{
    /// In place of a number of connections that no worker accepts between two readings.
    static constexpr std::uint32_t unlimited = UINT32_MAX;

    memory_level level = memory_level::normal;
    /// How often connections that have stalled were to end so far: see stalled_list. A count, so
    /// that a worker which was busy sees also in a later share that it has missed one.
    std::uint16_t evictions = 0;
    std::uint32_t admitted = unlimited; ///< Connections that may begin until the next reading.

    bool operator==(memory_share const&) const = default;
};

/// memory_levels decides by the readings, one after the other, without a clock. Connections may
/// still take what they have not taken yet, and that counts as if it were in use: so connections
/// that were admitted before the reading do not grow beyond the limit after it.
class memory_levels
{
public:
    /// connection_reserve is for an open connection while memory is tight: a record of turn_full
    /// for a reader that has stopped.
    static constexpr std::uint64_t connection_reserve = 5 * 1024;
    /// handshake_reserve is for an unfinished handshake (docs/performance.md, "Handshakes that do
    /// not end").
    static constexpr std::uint64_t handshake_reserve = 16 * 1024;
    /// new_connection is for one that is not there yet: itself, and both of the above.
    static constexpr std::uint64_t new_connection = 32 * 1024;
    /// A worker does not finish so many handshakes between two readings.
    static constexpr std::uint64_t many = 4096;

    /// The parts of the limit at which a level begins and ends, in percent.
    static constexpr std::uint64_t tight_begins = 80;
    static constexpr std::uint64_t tight_ends = 75;
    static constexpr std::uint64_t full_begins = 90;
    static constexpr std::uint64_t full_ends = 85;

    memory_levels() noexcept = default;
    explicit memory_levels(std::uint64_t limit) noexcept : limit_{limit} {}

    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
    [[nodiscard]] memory_level level() const noexcept { return level_; }

    /// part is so many percent of the limit.
    [[nodiscard]] std::uint64_t part(std::uint64_t percent) const noexcept
    {
        return limit_ / 100 * percent;
    }

    /// expected is what may be in use without any new connection.
    [[nodiscard]] static std::uint64_t expected(memory_reading const& now) noexcept
    {
        return now.in_use + now.connections * connection_reserve +
               now.half_open * handshake_reserve;
    }

    /// on_reading takes a reading, and gives the share of each of so many workers.
    memory_share on_reading(memory_reading const& now, std::uint64_t workers) noexcept
    {
        std::uint64_t const most = expected(now);
        level_ = next(most);
        std::uint64_t const room = part(full_begins) - std::min(most, part(full_begins));
        std::uint64_t const each = room / new_connection / std::max<std::uint64_t>(workers, 1);
        if (each == 0) // Otherwise those that have stalled would keep others out.
            level_ = memory_level::full;
        if (level_ == memory_level::full)
            return {.level = level_, .admitted = 0};
        return {
            .level = level_,
            .admitted = each >= many ? memory_share::unlimited : static_cast<std::uint32_t>(each)};
    }

private:
    [[nodiscard]] memory_level next(std::uint64_t most) const noexcept
    {
        if (most >= part(level_ == memory_level::full ? full_ends : full_begins))
            return memory_level::full;
        if (most >= part(level_ == memory_level::normal ? tight_begins : tight_ends))
            return memory_level::tight;
        return memory_level::normal;
    }

    std::uint64_t limit_ = 0;
    memory_level level_ = memory_level::normal;
};

} // namespace cleat::app
