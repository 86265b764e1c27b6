// Words that a probe's text, verdict and JSON have in common.

#pragma once

#include "probe/probe.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

using days = std::chrono::duration<long, std::ratio<86400>>;

/// has: `part` is somewhere in `text`.
[[nodiscard]] bool has(std::string_view text, std::string_view part) noexcept;
[[nodiscard]] std::string list_of(
    std::vector<std::string> const& words, std::string_view none = "none");
/// many is "1 ticket", "2 tickets".
[[nodiscard]] std::string many(std::size_t count, std::string_view what);
[[nodiscard]] std::string_view name_of(tls::protocol_version v) noexcept;
/// days_left counts from the probe, and is below zero after the end.
[[nodiscard]] long days_left(probe_report const& of, tls::shown_certificate const& c);
/// date is "2026-11-21".
[[nodiscard]] std::string date(std::chrono::sys_seconds at);
/// key_of is "RSA-2048", "Ed25519".
[[nodiscard]] std::string key_of(tls::shown_certificate const& c);

} // namespace cleat::bench
