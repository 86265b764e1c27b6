// attacks: whether a server has a known vulnerability, found out without harm: nothing is
// decrypted, and no memory of the server is read but a few bytes that it sends by itself.

#pragma once

#include "probe/offers.hpp"
#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

#include <string_view>
#include <vector>

namespace cleat::bench {

/// find_vulnerabilities tries those that need no session. `yes`: vulnerable.
[[nodiscard]] std::vector<probed_answer> find_vulnerabilities(
    raw_client& client, accepted_versions const& versions);

/// find_ticketbleed offers a ticket of TLS 1.2 with a session ID of 16 bytes (CVE-2016-9244). Empty
/// ticket: not tried.
[[nodiscard]] probed_answer find_ticketbleed(
    raw_client& client, accepted_versions const& versions, std::string_view ticket);

} // namespace cleat::bench
