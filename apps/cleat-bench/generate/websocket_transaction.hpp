// websocket_transaction: the life of one connection of a load over WebSockets.

#pragma once

#include "generate/alarm.hpp"
#include "generate/transaction.hpp"
#include "generate/worker_load.hpp"

#include <cleat/net/task.hpp>

namespace cleat::bench {

/// transact_websocket connects, shakes hands and opens a WebSocket; then it closes it, or sends
/// `messages`, each after the echo of the one before, or holds it until the time is up. It was
/// meant to begin at `intended`.
net::detached transact_websocket(worker_load& load, moment intended, unsigned messages);

/// keep_messaging keeps one WebSocket and sends a message in every period of the load's `kept`. One
/// that broke is replaced for the next message. The alarm is the connection's own.
net::detached keep_messaging(worker_load& load, alarm due_alarm, kept_turn part);

} // namespace cleat::bench
