// adaptive_turn: how much to do in one turn, learned from the turns before.

#pragma once

#include <algorithm>
#include <cstddef>

namespace cleat {

/// adaptive_turn is a size between Least and Most: bytes of a transfer, or connections to accept.
/// Where every turn finds enough to do, longer ones cost less for each unit. Shorter ones leave
/// less behind with a receiver that does not keep up.
template <std::size_t Least, std::size_t Most>
class adaptive_turn
{
    static_assert(Least > 0 && Most >= Least);

public:
    /// adaptive_turn whose first turn is `start`, which lies between Least and Most.
    constexpr explicit adaptive_turn(std::size_t start = Least) noexcept : size_{start} {}

    /// size of the next turn.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

    /// used: a turn did n units. A turn that did all that it could is followed by one of twice
    /// its size.
    constexpr void used(std::size_t n) noexcept
    {
        if (n >= size_)
            size_ = std::min(size_ * 2, Most);
    }

    /// shrink: the receiver did not take all. The next turn has half the size.
    constexpr void shrink() noexcept { size_ = std::max(size_ / 2, Least); }

    /// restart: there was nothing to do. The next turn has the least size.
    constexpr void restart() noexcept { size_ = Least; }

private:
    std::size_t size_;
};

} // namespace cleat
