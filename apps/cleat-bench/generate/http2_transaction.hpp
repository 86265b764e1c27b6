// http2_transaction: the life of one connection of a load by HTTP/2, and of its streams.

#pragma once

#include "generate/alarm.hpp"
#include "generate/due_times.hpp"
#include "generate/worker_load.hpp"

#include <cleat/net/task.hpp>

#include <string>
#include <string_view>

namespace cleat::bench {

/// no_http2 is a failure's kind: the server has selected another protocol by ALPN than h2, or none.
[[nodiscard]] std::string no_http2(std::string_view selected);

/// transact_http2 connects, shakes hands, sends a number of requests, as many at once as the load
/// has streams, and closes. It was meant to begin at `intended`: the response time of the first
/// request counts from there. A load that keeps its connections sends requests until its time is
/// up, and after a graceful GOAWAY over another connection.
net::detached transact_http2(worker_load& load, moment intended, unsigned requests);

/// keep_requesting_http2 keeps one connection and sends the requests of the load's `kept` when they
/// are due, or as soon after that as a stream is free. After a connection ended, the next request
/// waits for a new one. The alarm is the connection's own.
net::detached keep_requesting_http2(worker_load& load, alarm due_alarm, kept_turn part);

} // namespace cleat::bench
