// robot: whether a server tells a client what the padding of an RSA key exchange was (ROBOT; Böck,
// Somorovsky and Young, 2018).

#pragma once

#include "probe/offers.hpp"
#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

namespace cleat::bench {

/// find_robot sends one right key exchange and four with wrong padding, each followed by a
/// ChangeCipherSpec and a Finished that cannot be right, and compares the answers. A difference has
/// to come again.
[[nodiscard]] probed_answer find_robot(raw_client const& client, accepted_version const& old);

} // namespace cleat::bench
