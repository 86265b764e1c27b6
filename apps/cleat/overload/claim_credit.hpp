// claim_credit: how many handshakes may go ahead because their client claims to resume a session.

#pragma once

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace cleat::app {

/// claim_credit bounds what clients gain by a false claim to have a session that claim_of believes:
/// such a handshake goes ahead, and then costs a signature. An honest client gives back what it
/// took, when its handshake ends. The credit of false claims comes back with time, one in each
/// limits::claim_renewal.
class claim_credit
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// take: a handshake goes ahead. False: there is no credit left, so it may not.
    [[nodiscard]] bool take(time_point now) noexcept
    {
        renew(now);
        if (left_ == 0)
            return false;
        --left_;
        return true;
    }

    /// give_back: a handshake that took credit has resumed a session.
    void give_back() noexcept { left_ = std::min(left_ + 1, limits::claims_max); }

private:
    void renew(time_point now) noexcept
    {
        auto const earned = (now - renewed_) / limits::claim_renewal;
        if (earned <= 0)
            return;
        left_ =
            static_cast<std::uint32_t>(std::min<std::int64_t>(left_ + earned, limits::claims_max));
        renewed_ += earned * limits::claim_renewal;
    }

    std::uint32_t left_ = limits::claims_max;
    time_point renewed_{};
};

} // namespace cleat::app
