// announce: what the upstream hears before the client's first byte: who is talking, and how.

#pragma once

#include "byte_counts.hpp"
#include "client_side.hpp"
#include "config/config.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <span>
#include <string>

namespace cleat::app {

/// receive_proxy_header takes the PROXY header that a load balancer put before TLS, and not one
/// byte of what follows. error::bad_proxy_header when it is none.
net::task<error_code> receive_proxy_header(
    net::interrupt& by, net::socket& from, std::string& header);

/// first_bytes are the announcement that the settings ask for (or the one received), and the
/// plaintext that came with the end of the handshake, which `moved` counts. They are in the
/// thread's scratch block: use them up before the next wait.
[[nodiscard]] std::span<std::byte const> first_bytes(
    config const& use, client_side& from, net::address const& peer, std::string const& received,
    byte_counts& moved);

} // namespace cleat::app
