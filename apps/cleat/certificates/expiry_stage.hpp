// expiry_stage: how near a certificate's end is.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

/// The remaining times at which a certificate is reported. 30 days: ACME clients have tried to
/// renew it by now. 7: they keep failing. 1: somebody must act now.
inline constexpr std::chrono::days expires_soon{30};
inline constexpr std::chrono::days expires_sooner{7};
inline constexpr std::chrono::days expires_now{1};

/// expiry_stage is how near a certificate's end is.
enum class expiry_stage : std::uint8_t
{
    far,
    soon,   ///< Within expires_soon.
    sooner, ///< Within expires_sooner.
    last,   ///< Within expires_now, or less: see stage_of.
    over,
};
inline constexpr std::size_t expiry_stage_count = 5;

/// grade_of is "notice", "warning" or "error": the grade of `cleat check`. Empty: it is far.
[[nodiscard]] constexpr std::string_view grade_of(expiry_stage stage) noexcept
{
    switch (stage) {
    case expiry_stage::soon:
        return "notice";
    case expiry_stage::sooner:
        return "warning";
    case expiry_stage::last:
    case expiry_stage::over:
        return "error";
    case expiry_stage::far:
        break;
    }
    return "";
}

} // namespace cleat::app
