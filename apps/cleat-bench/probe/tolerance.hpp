// tolerance: whether a server accepts ClientHellos that are unusual and right.

#pragma once

#include "probe/offers.hpp"
#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

#include <vector>

namespace cleat::bench {

/// find_tolerance asks with GREASE (RFC 8701), versions above TLS 1.3, lengths around those that
/// old servers broke at, several records and several TCP segments. `yes`: the server accepts the
/// hello.
[[nodiscard]] std::vector<probed_answer> find_tolerance(
    raw_client& client, accepted_versions const& versions);

} // namespace cleat::bench
