// connect_with_tls: finds a server of an upstream that accepts and whose handshake succeeds.

#pragma once

#include "connection/connection_log.hpp"
#include "upstream_tls/tls_upstream.hpp"
#include "upstream_tls/upstream_tls.hpp"
#include "worker/upstream_choice.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app {

/// tls_greeting is what a server gets before the client's bytes.
struct tls_greeting
{
    std::string_view clear;           ///< Before the ClientHello.
    std::string_view client_protocol; ///< The client has agreed on it by ALPN.
};

/// placed_header is the header that a server gets about the client, at its place.
struct placed_header
{
    std::string bytes;
    bool is_before; ///< Before TLS, in clear; else it is the first plaintext.

    placed_header(upstream_choice& choice, std::string header)
        : bytes{std::move(header)}
        , is_before{choice.tls()->plan().proxy_header == proxy_place::before_tls}
    {
    }

    [[nodiscard]] std::string_view clear() const noexcept
    {
        return is_before ? std::string_view{bytes} : std::string_view{};
    }
    [[nodiscard]] std::string_view inside() const noexcept
    {
        return is_before ? std::string_view{} : std::string_view{bytes};
    }
};

/// connect_with_tls tries the addresses of the choice, as connect does, in the same time: a server
/// whose handshake fails counts as one that does not accept. The log has each handshake, also one
/// that failed where another server took its place. No byte of the client's is sent. The last
/// flight of the handshake is held back until the first send. The greeting outlives the task.
net::task<result<tls_upstream>> connect_with_tls(
    net::interrupt& interrupt, upstream_choice& choice, tls_greeting greeting,
    std::chrono::milliseconds timeout, connection_log& log);

} // namespace cleat::app
