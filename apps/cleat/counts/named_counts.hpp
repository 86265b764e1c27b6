// named_counts: numbers by name that one worker counts and that any thread may read.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cleat::app {

/// counted_name is a number with its name. The worker that owns it is the only writer; any thread
/// may read.
class counted_name
{
public:
    static constexpr std::size_t size_max = 55; ///< A longer name is cut.

    [[nodiscard]] std::string_view name() const noexcept { return {name_.data(), size_}; }

    /// take gives it a name, once, before any other thread sees it. Owner only.
    void take(std::string_view name) noexcept
    {
        size_ = static_cast<std::uint8_t>(std::min(name.size(), size_max));
        std::memcpy(name_.data(), name.data(), size_);
    }

    /// add counts. Owner only: a load and a store, where fetch_add would lock the cache line.
    void add(std::uint64_t n = 1) noexcept { set(value() + n); }

    /// set replaces the number. Owner only.
    void set(std::uint64_t n) noexcept { count_.store(n, std::memory_order_relaxed); }

    [[nodiscard]] std::uint64_t value() const noexcept
    {
        return count_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> count_{0};
    std::uint8_t size_ = 0;
    std::array<char, size_max> name_{};
};

/// named_counts counts by names that are not known at compile time: a TLS library's names of cipher
/// suites, for example. A name gets one of N places when it is first counted. When these are used
/// up, further names share the place `other`.
///
/// The worker that owns it is the only writer; any thread may read. It allocates nothing.
template <std::size_t N>
class alignas(64) named_counts
{
public:
    static constexpr std::string_view other = "other";

    named_counts() noexcept { places_.back().take(other); }
    named_counts(named_counts&&) = delete;
    ~named_counts() = default;

    /// of is the place of a name. It stays valid. Owner only.
    [[nodiscard]] counted_name& of(std::string_view name) noexcept
    {
        name = name.substr(0, counted_name::size_max);
        std::size_t const used = used_.load(std::memory_order_relaxed);
        for (std::size_t i = 0; i < used; ++i)
            if (places_[i].name() == name)
                return places_[i];
        if (used == N)
            return places_.back();
        places_[used].take(name);
        used_.store(used + 1, std::memory_order_release); // A reader sees the whole name.
        return places_[used];
    }

    /// clear sets every number to 0. Owner only.
    void clear() noexcept
    {
        for (counted_name& each : places_)
            each.set(0);
    }

    /// for_each calls use(name, count) for each name so far, and for `other` where it counts. Any
    /// thread.
    template <class Use>
    void for_each(Use use) const
    {
        std::size_t const used = used_.load(std::memory_order_acquire);
        for (std::size_t i = 0; i < used; ++i)
            use(places_[i].name(), places_[i].value());
        if (std::uint64_t const rest = places_.back().value(); rest != 0)
            use(other, rest);
    }

private:
    std::atomic<std::size_t> used_{0};
    std::array<counted_name, N + 1> places_{};
};

} // namespace cleat::app
