// entropy: unpredictable bytes, a few at a time.

#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace cleat::bench {

/// entropy gives bytes of the kernel's generator (getrandom), and asks it for many at a time: a
/// masking key costs no system call of its own. One thread.
class entropy
{
public:
    /// fill gives fresh bytes; at most block_size.
    void fill(std::span<std::byte> bytes) noexcept;

    template <std::size_t Size>
    [[nodiscard]] std::array<std::byte, Size> bytes() noexcept
    {
        static_assert(Size <= block_size);
        std::array<std::byte, Size> found{};
        fill(found);
        return found;
    }

    static constexpr std::size_t block_size = 1024;

private:
    std::array<std::byte, block_size> block_{};
    std::size_t used_ = block_size;
};

} // namespace cleat::bench
