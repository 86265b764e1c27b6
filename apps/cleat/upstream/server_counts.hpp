// server_counts: what is counted of the connections to a server.

#pragma once

#include "counts/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::app {

/// server_count is a number of one server.
enum class server_count : std::uint8_t
{
    opened,      ///< Connections that it has accepted.
    closed,      ///< Those of them that have ended.
    failed,      ///< Times that it did not accept one, at any of its addresses.
    queued,      ///< Connections that have begun to wait, because it has as many as it may have.
    waited,      ///< Those of them whose wait is over.
    ready_begun, ///< Connections that were ready before a client needed them: see preconnect_rule.
    ready_ended, ///< Those of them that a client has taken, or that have ended unused.
    ready_taken,
    ready_missed, ///< Connections of clients for which none was ready.
};
inline constexpr std::size_t server_count_size =
    static_cast<std::size_t>(server_count::ready_missed) + 1;

/// server_counts is what one worker counts of a server. A reload that keeps the server keeps them.
using server_counts = counters<server_count, server_count_size>;

/// counts_by_worker is those of all workers, each in cache lines of its own.
using counts_by_worker = std::vector<server_counts>;

} // namespace cleat::app
