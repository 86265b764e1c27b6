// announce: the bytes that tell the upstream, before the client's own bytes, the client's address
// and how it connected (a PROXY header, for example).

#pragma once

#include "config/route_settings.hpp"
#include "proxy/inbound_header.hpp"
#include "relay/client_side.hpp"
#include "worker/byte_counts.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/task.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// receive_proxy_header takes the PROXY header that a load balancer has sent before TLS, and no
/// byte after it: the socket stays readable. The error is untrusted_proxy where the peer may not
/// send one to this frontend, bad_proxy_header where the bytes are no PROXY header, and
/// proxy_checksum where its checksum is wrong: inbound_header::fault then says more. During the
/// wait the connection is in the half_open_list.
net::task<error_code> receive_proxy_header(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& socket,
    net::address const& peer, std::unique_ptr<inbound_header>& header);

/// first_bytes are the first bytes for the upstream: the announcement that the rule asks for, and
/// the client's first plaintext, if it came with the end of the handshake. With proxy-proxy the
/// announcement is `received`. Otherwise `received` may be null, or names the client and has TLVs
/// that are passed on. `traffic` counts the plaintext. The bytes are in the thread's scratch block:
/// use them before the next wait.
[[nodiscard]] std::span<std::byte const> first_bytes(
    announcement_rule const& rule, client_side& client, net::address const& peer,
    inbound_header const* received, byte_counts& traffic);

/// make_announcement is the announcement of first_bytes alone.
[[nodiscard]] std::string make_announcement(
    announcement_rule const& rule, client_side const& client, net::address const& peer,
    inbound_header const* received);

/// first_plaintext is `before`, and then the client's first plaintext, as in first_bytes.
[[nodiscard]] std::span<std::byte const> first_plaintext(
    client_side& client, std::string_view before, byte_counts& traffic);

/// make_plain_announcement is the announcement of a client whose TLS does not end here: it has the
/// addresses and, with PROXY v2, the name of SNI, which may be empty.
[[nodiscard]] std::string make_plain_announcement(
    announcement_rule const& rule, net::socket const& client, net::address const& peer,
    inbound_header const* received, std::string_view server_name = {});

/// first_bytes_of_passthrough are the announcement and the client's first bytes as they came.
/// The bytes are `hello` or in the thread's scratch block: use them before the next wait.
[[nodiscard]] std::span<std::byte const> first_bytes_of_passthrough(
    announcement_rule const& rule, net::socket const& client, net::address const& peer,
    inbound_header const* received, std::string_view server_name, std::span<std::byte const> hello);

} // namespace cleat::app
