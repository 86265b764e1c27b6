// transaction_counts: counts the begin and the one outcome of a transaction, for each kind of
// account.

#pragma once

#include "generate/outcome.hpp"
#include "generate/worker_load.hpp"

#include <cstddef>

namespace cleat::bench {

/// begun_transaction is what its outcome is counted by.
struct begun_transaction
{
    moment intended; ///< When it was meant to begin.
    std::size_t path = 0;
};

/// count_begun is called once for each transaction, and then one of the others. The caller leaves
/// out those of the warm-up.
void count_begun(worker_load& load, begun_transaction const& one);

/// count_ok: its answer was right. The response counts from response_from to `end`.
void count_ok(worker_load& load, begun_transaction const& one, moment response_from, moment end);

/// count_failed: it failed `now`. Others waited for it until `end`.
void count_failed(
    worker_load& load, begun_transaction const& one, failure what, moment now, moment end);

} // namespace cleat::bench
