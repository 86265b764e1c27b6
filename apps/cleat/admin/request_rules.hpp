// request_rules: which requests the admin server takes.

#pragma once

#include <cleat/net/socket_options.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// request_facts are the parts of a request that the rules look at.
struct request_facts
{
    std::optional<std::string_view> host;   ///< The Host header's value.
    std::optional<std::string_view> origin; ///< The Origin header's value.
    bool is_command = false;                ///< POST.
};

/// refusal_of says why a request is refused; nothing: it is taken. `server` is the address that the
/// client has connected to.
///
/// A browser sends Origin with each request that could change something: that of the page which
/// sends it. The server's own page has "http://" and the Host. A site whose name its owner points
/// to 127.0.0.1 (DNS rebinding) is the same site to the browser, too, but the name is in Host. So
/// Host must be an address of this machine: localhost, a loopback address or the server's own.
/// Where `server` is no loopback address, requests that only read may have any name: Prometheus may
/// know the machine by it. A browser reaches a UNIX socket only where ssh forwards a port to it:
/// then a name with a dot, which a site of the Internet has, is refused; other names come from an
/// operator's curl.
[[nodiscard]] std::optional<std::string> refusal_of(
    request_facts const& request, net::address const& server);

} // namespace cleat::app
