// features: what a server does beside versions, suites and groups, as far as the unencrypted part
// of its first flight shows it.

#pragma once

#include "probe/offers.hpp"
#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

#include <vector>

namespace cleat::bench {

/// old_version is the latest accepted version before TLS 1.3; null if there is none.
[[nodiscard]] accepted_version const* old_version(accepted_versions const& versions) noexcept;

/// find_features asks for the fallback signal (RFC 7507), secure renegotiation (RFC 5746),
/// compression (RFC 3749), heartbeats (RFC 6520), the extended master secret (RFC 7627),
/// encrypt-then-MAC (RFC 7366) and stapled OCSP responses (RFC 6066, section 8).
[[nodiscard]] std::vector<probed_answer> find_features(
    raw_client& client, accepted_versions const& versions);

} // namespace cleat::bench
