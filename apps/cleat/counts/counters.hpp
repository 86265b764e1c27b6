// counters: numbers that one worker counts and that any thread may read and add up.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// counters has one number for each of the N values of Enum, which count from 0. The worker that
/// owns it is the only writer; any thread may read. Counters have no order between them: a reader
/// may see one ahead of another.
///
/// The object fills whole cache lines, so that two workers never write to the same one.
template <class Enum, std::size_t N>
class alignas(64) counters
{
public:
    counters() noexcept = default;
    counters(counters&&) = delete;

    /// add adds n to one counter. Owner only.
    void add(Enum counter, std::uint64_t n = 1) noexcept { store(counter, value(counter) + n); }

    /// subtract is for numbers that go down again, such as open connections. Owner only.
    void subtract(Enum counter, std::uint64_t n = 1) noexcept
    {
        store(counter, value(counter) - n);
    }

    /// value is the present count. Any thread.
    [[nodiscard]] std::uint64_t value(Enum counter) const noexcept
    {
        return values_.at(static_cast<std::size_t>(counter)).load(std::memory_order_relaxed);
    }

private:
    // A load and a store, where fetch_add would lock the cache line: there is only one writer.
    void store(Enum counter, std::uint64_t n) noexcept
    {
        values_.at(static_cast<std::size_t>(counter)).store(n, std::memory_order_relaxed);
    }

    std::array<std::atomic<std::uint64_t>, N> values_{};
};

/// total adds up one counter of every worker. `workers` is any range of counters, or of pointers to
/// them.
template <class Workers, class Enum>
[[nodiscard]] std::uint64_t total(Workers const& workers, Enum counter) noexcept
{
    std::uint64_t sum = 0;
    for (auto const& each : workers) {
        if constexpr (requires { each->value(counter); })
            sum += each->value(counter);
        else
            sum += each.value(counter);
    }
    return sum;
}

} // namespace cleat::app
