// announce: the bytes that the upstream gets before the client's: who the client is, and how it
// connected.

#pragma once

#include "byte_counts.hpp"
#include "client_side.hpp"
#include "config/config.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace cleat::app {

/// receive_proxy_header takes the PROXY header that a load balancer put before TLS, and no byte
/// behind it. error::bad_proxy_header where the bytes are none.
net::task<error_code> receive_proxy_header(
    net::interrupt& interrupt, net::socket& socket, std::string& header);

/// first_bytes are the announcement that the settings ask for (with proxy-proxy, `received`), and
/// the plaintext that came with the end of the handshake, which `traffic` counts. They are in the
/// thread's scratch block: use them up before the next wait.
[[nodiscard]] std::span<std::byte const> first_bytes(
    config const& settings, client_side& client, net::address const& peer,
    std::string const& received, byte_counts& traffic);

} // namespace cleat::app
