// transaction: the life of one connection of a load.

#pragma once

#include "generate/alarm.hpp"
#include "generate/due_times.hpp"
#include "generate/worker_load.hpp"

#include <cleat/net/task.hpp>

namespace cleat::bench {

/// transact connects, shakes hands, sends a number of requests, each after the answer to the one
/// before, and closes. It was meant to begin at `intended`: the response time counts from there,
/// because that is how long a user would have waited.
net::detached transact(worker_load& load, moment intended, unsigned requests);

/// keep_requesting keeps one connection and sends a request in every period of the load's `kept`.
/// After a connection broke, the next request waits for a new one. The alarm is the connection's
/// own.
net::detached keep_requesting(worker_load& load, alarm due_alarm, kept_turn part);

} // namespace cleat::bench
