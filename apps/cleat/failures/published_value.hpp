// published_value: a value that one thread replaces and that any thread may read.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace cleat::app {

/// published_value is a seqlock with one writer: a number that is odd while the value changes. The
/// writer never waits. A reader that meets a change tries again, a few times.
///
/// Release stores and acquire loads of the words take the place of fences, which ThreadSanitizer
/// does not know. On x86-64 they are plain moves.
template <class T>
class alignas(64) published_value
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    published_value() noexcept = default;
    published_value(published_value&&) = delete;
    ~published_value() = default;

    /// write replaces the value. Owner only.
    void write(T const& value) noexcept
    {
        std::array<std::uint64_t, word_count> raw{};
        std::memcpy(raw.data(), &value, sizeof value);
        std::uint64_t const before = changes_.load(std::memory_order_relaxed);
        changes_.store(before + 1, std::memory_order_relaxed);
        for (std::size_t i = 0; i < word_count; ++i)
            words_[i].store(raw[i], std::memory_order_release);
        changes_.store(before + 2, std::memory_order_release);
    }

    /// read is the last value; nothing before the first one, or where each attempt met a change.
    /// Any thread.
    [[nodiscard]] std::optional<T> read() const noexcept
    {
        for (int attempt = 0; attempt < attempts_max; ++attempt) {
            std::uint64_t const before = changes_.load(std::memory_order_acquire);
            if (before == 0)
                return std::nullopt;
            std::array<std::uint64_t, word_count> raw;
            for (std::size_t i = 0; i < word_count; ++i)
                raw[i] = words_[i].load(std::memory_order_acquire);
            if (before % 2 != 0 || changes_.load(std::memory_order_relaxed) != before)
                continue;
            std::optional<T> value{std::in_place};
            std::memcpy(static_cast<void*>(&*value), raw.data(), sizeof *value);
            return value;
        }
        return std::nullopt;
    }

private:
    static constexpr std::size_t word_count =
        (sizeof(T) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    static constexpr int attempts_max = 16;

    std::atomic<std::uint64_t> changes_{0};
    std::array<std::atomic<std::uint64_t>, word_count> words_{};
};

} // namespace cleat::app
