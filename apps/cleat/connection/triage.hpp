// triage: which connections go ahead, wait or are shed, while more come than a worker can serve.

#pragma once

#include "overload/claim_credit.hpp"
#include "overload/signature_cost.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

#include <optional>

namespace cleat::app {

/// is_line_full: a full handshake with this cost that comes to the frontend now is shed. Either it
/// would wait for longer than limits::line_wait_max or half of ssl-handshake-timeout, or
/// limits::line_size_max handshakes wait, or half as many as there may be connections: see
/// handshake_line::is_full.
[[nodiscard]] bool is_line_full(frontend_socket const& frontend, signature_cost cost) noexcept;

/// full_handshake_of a client that has just connected is its cost, where the whole ClientHello has
/// come and offers no session that may be here: see session_claim. Takes no byte from the socket.
[[nodiscard]] std::optional<signature_cost> full_handshake_of(
    frontend_socket const& frontend, int fd) noexcept;

/// take_turn ends when the worker has time for the handshake of the client with this ClientHello.
/// It ends at once for a client that goes ahead: `claim` is then the credit that it took, and the
/// caller gives it back once the client has resumed its session. The client's TLS begins with
/// `server`. The error is error::handshake_shed, or the reason why the wait has ended: a client
/// that has gone meanwhile costs no signature.
net::task<error_code> take_turn(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& socket,
    tls::context const& server, tls::hello_facts const& hello, claim_credit*& claim);

} // namespace cleat::app
