// receive_hello: a client's ClientHello, read before the TLS library has a byte of it.

#pragma once

#include "limits/half_open.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

namespace cleat::app {

/// received_hello is all bytes that the socket had, from the first on, and what they are.
struct received_hello
{
    byte_queue bytes;
    tls::client_hello_reader reader;
    tls::client_hello_reader::status status = tls::client_hello_reader::status::incomplete;
};

/// receive_hello reads until the ClientHello is complete, or cannot be one. Its deadline is the
/// interrupt's. No error also where the client's FIN has come before: the status is incomplete
/// then. During the wait the connection is in the half_open_list. Throws std::bad_alloc.
net::task<error_code> receive_hello(
    net::interrupt& interrupt, half_open_list& list, net::socket& socket, received_hello& hello);

} // namespace cleat::app
