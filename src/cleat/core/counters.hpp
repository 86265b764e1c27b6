// counters: numbers that one worker counts and any thread may read and add up.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleat {

/// counters has one number for each of the N values of Enum, which count from 0. The worker that
/// owns it is the only writer; any thread may read. Nothing is ordered by it: a reader may see one
/// counter ahead of another.
///
/// It fills whole cache lines of its own, so that two workers never write to the same one.
template <class Enum, std::size_t N>
class alignas(64) counters
{
public:
    counters() noexcept = default;
    counters(counters&&) = delete;

    /// add counts n more of which. Owner only.
    void add(Enum which, std::uint64_t n = 1) noexcept { store(which, value(which) + n); }

    /// subtract counts n fewer, for numbers that go down again, as open connections do. Owner only.
    void subtract(Enum which, std::uint64_t n = 1) noexcept { store(which, value(which) - n); }

    /// value is what has been counted so far. Any thread.
    [[nodiscard]] std::uint64_t value(Enum which) const noexcept
    {
        return values_.at(static_cast<std::size_t>(which)).load(std::memory_order_relaxed);
    }

private:
    // A load and a store, where fetch_add would lock the cache line: there is only one writer.
    void store(Enum which, std::uint64_t n) noexcept
    {
        values_.at(static_cast<std::size_t>(which)).store(n, std::memory_order_relaxed);
    }

    std::array<std::atomic<std::uint64_t>, N> values_{};
};

/// total adds up one counter of every worker. `workers` is any range of counters, or of pointers to
/// them.
template <class Workers, class Enum>
[[nodiscard]] std::uint64_t total(Workers const& workers, Enum which) noexcept
{
    std::uint64_t sum = 0;
    for (auto const& each : workers) {
        if constexpr (requires { each->value(which); })
            sum += each->value(which);
        else
            sum += each.value(which);
    }
    return sum;
}

} // namespace cleat
