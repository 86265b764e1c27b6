// formatting: names, dates and lists that a probe's text, verdict and JSON share.

#pragma once

#include "probe/probe_report.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

using days = std::chrono::duration<long, std::ratio<86400>>;

/// has: `text` contains `part`.
[[nodiscard]] bool has(std::string_view text, std::string_view part) noexcept;
[[nodiscard]] std::string list_of(
    std::vector<std::string> const& names, std::string_view none = "none");
/// counted is "1 ticket", "2 tickets".
[[nodiscard]] std::string counted(std::size_t count, std::string_view what);
/// old_versions are the names of the accepted versions that must not be used (RFC 8996, RFC 7568).
[[nodiscard]] std::vector<std::string> old_versions(probe_report const& report);
/// days_left counts from the probe, and is negative after the certificate has expired.
[[nodiscard]] long days_left(probe_report const& report, tls::shown_certificate const& c);
/// date is "2026-11-21".
[[nodiscard]] std::string date(std::chrono::sys_seconds time);
/// key_of is "RSA-2048", "Ed25519".
[[nodiscard]] std::string key_of(tls::shown_certificate const& c);

} // namespace cleat::bench
