// client_closing: the end of an established client that no upstream serves.

#pragma once

#include "relay/client_side.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/engine.hpp>

#include <chrono>

namespace cleat::app {

/// refuse_client ends a client that got no byte of an answer. The client reads an error, never a
/// whole and empty answer: the alert, then FIN (on OpenSSL, which sends no alert, a FIN without
/// close_notify).
///
/// The client's bytes are read and dropped until it closes, or for `patience` at most. If cleat
/// closed a socket with unread bytes, the kernel would send an RST, which can destroy the alert on
/// its way.
net::task<> refuse_client(
    net::interrupt& interrupt, client_side& client,
    tls::fatal_alert alert = tls::fatal_alert::internal_error,
    std::chrono::milliseconds patience = limits::linger_timeout);

/// dismiss_client ends a client that has got its whole answer: it reads a close_notify, then FIN.
/// Its own bytes are dropped as refuse_client drops them.
net::task<> dismiss_client(
    net::interrupt& interrupt, client_side& client,
    std::chrono::milliseconds patience = limits::linger_timeout);

} // namespace cleat::app
