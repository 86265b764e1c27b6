// triage: which connections go ahead, wait or are shed, while more come than a worker can serve.

#pragma once

#include "frontend_socket.hpp"
#include "overload/claim_credit.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

namespace cleat::app {

/// is_shed_unread: the line of full handshakes is full, and the client that has just connected
/// wants one: its whole ClientHello has come. Such a connection ends before anything is made for
/// it, which costs a tenth of what it would later. False also where other bytes come before the
/// ClientHello, or another server may answer it.
[[nodiscard]] bool is_shed_unread(frontend_socket const& frontend, int fd) noexcept;

/// wait_in_line ends when the worker has time for the handshake of a client with such a
/// ClientHello. At once where the client goes ahead: `claim` is then what it took, and the caller
/// gives it back once the client has resumed its session. The error is error::handshake_shed, or
/// why the wait has ended: a client that has gone meanwhile costs no signature.
net::task<error_code> wait_in_line(
    net::interrupt& interrupt, worker_service const& service, net::socket& socket,
    tls::hello_facts const& hello, claim_credit*& claim);

} // namespace cleat::app
