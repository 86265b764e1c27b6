// findings: the findings of `cleat check` about one certificate. Pure functions over facts.

#pragma once

#include <cleat/tls/certificates/certificate_description.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// finding_grade: the worst is the first.
enum class finding_grade : std::uint8_t
{
    error,   ///< Clients refuse the certificate, or cleat does.
    warning, ///< Some clients refuse it, or it ends within days.
    notice,  ///< Worth knowing.
};
inline constexpr std::size_t finding_grade_count = 3;
[[nodiscard]] std::string_view to_string(finding_grade grade) noexcept;

/// finding_kind has a name in the report, which docs/reference/check.md explains.
enum class finding_kind : std::uint8_t
{
    expired,
    ends_soon,
    not_yet_valid,
    chain_date,
    key_mismatch,
    unusable,
    missing_intermediate,
    wrong_order,
    duplicate_name,
    weak_key,
    sha1_signature,
    no_san,
    unusable_name,
    not_served,
};
[[nodiscard]] std::string_view to_string(finding_kind kind) noexcept;

struct finding
{
    finding_kind kind = finding_kind::unusable;
    finding_grade grade = finding_grade::error;
    std::string text; ///< A sentence without its full stop.
};

/// findings_of are those of a certificate by itself. `error` is why it cannot be served; or empty.
[[nodiscard]] std::vector<finding> findings_of(
    std::optional<tls::certificate_description> const& facts, std::string_view error,
    std::chrono::sys_seconds now);

/// date_text is a time in seconds since 1970 as "2026-11-24 10:00 UTC".
[[nodiscard]] std::string date_text(std::int64_t posix);

/// days_until are the whole days from now until then; negative when it is past.
[[nodiscard]] std::int64_t days_until(std::int64_t posix, std::chrono::sys_seconds now) noexcept;

} // namespace cleat::app
