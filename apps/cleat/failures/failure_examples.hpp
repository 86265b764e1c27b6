// failure_examples: how often a worker's connections have failed, by reason, with the last one of
// each.

#pragma once

#include "failures/failure_example.hpp"
#include "failures/published_value.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

namespace cleat::app {

/// failure_examples has a place for each of N reasons. The worker that owns it is the only writer;
/// any thread may read. A place takes memory when its reason is first seen: a connection that does
/// not fail costs nothing.
template <std::size_t N>
class failure_examples
{
public:
    using clock = std::chrono::steady_clock;

    /// The most by which the last example of a reason is older than its last failure: a flood costs
    /// its worker little.
    static constexpr std::chrono::milliseconds pause{500};

    failure_examples() noexcept = default;
    failure_examples(failure_examples&&) = delete;
    ~failure_examples()
    {
        for (std::atomic<place*> const& each : places_)
            std::unique_ptr<place> const owned{each.load(std::memory_order_acquire)};
    }

    /// count counts a failure. True: call keep with an example of it. Owner only.
    [[nodiscard]] bool count(std::size_t reason, clock::time_point now) noexcept
    {
        place* const counted = place_of(reason);
        if (counted == nullptr)
            return false;
        counted->count.store(
            counted->count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (now < counted->next)
            return false;
        counted->next = now + pause;
        return true;
    }

    /// keep replaces the example of a reason that count has returned true for. Owner only.
    void keep(std::size_t reason, failure_example const& example) noexcept
    {
        places_[reason].load(std::memory_order_relaxed)->last.write(example);
    }

    /// value is how often a reason was counted. Any thread.
    [[nodiscard]] std::uint64_t value(std::size_t reason) const noexcept
    {
        place const* const found = places_[reason].load(std::memory_order_acquire);
        return found == nullptr ? 0 : found->count.load(std::memory_order_relaxed);
    }

    /// last is the last example of a reason, where there is one. Any thread.
    [[nodiscard]] std::optional<failure_example> last(std::size_t reason) const noexcept
    {
        place const* const found = places_[reason].load(std::memory_order_acquire);
        return found == nullptr ? std::nullopt : found->last.read();
    }

private:
    struct place
    {
        published_value<failure_example> last;
        std::atomic<std::uint64_t> count{0};
        clock::time_point next = clock::time_point::min(); // The owner's.
    };

    // Null: there is no memory for it.
    place* place_of(std::size_t reason) noexcept
    {
        place* found = places_[reason].load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = new (std::nothrow) place;
            places_[reason].store(found, std::memory_order_release);
        }
        return found;
    }

    std::array<std::atomic<place*>, N> places_{};
};

} // namespace cleat::app
