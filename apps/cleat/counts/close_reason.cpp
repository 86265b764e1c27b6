#include "counts/close_reason.hpp"

namespace cleat::app {
namespace {

close_reason handshake_reason(error_code why) noexcept
{
    if (why == error::handshake_timeout)
        return close_reason::handshake_timeout;
    if (why == error::handshake_evicted)
        return close_reason::handshake_evicted;
    if (why == error::truncated)
        return close_reason::client_gone;
    return is_reset(why) ? close_reason::client_reset : close_reason::handshake_failed;
}

close_reason refusal_reason(error_code why) noexcept
{
    switch (static_cast<error>(why.value())) {
    case error::untrusted_proxy:
        return close_reason::untrusted_proxy;
    case error::address_denied:
        return close_reason::address_denied;
    case error::address_not_allowed:
        return close_reason::address_not_allowed;
    case error::memory_limit:
        return close_reason::memory_limit;
    case error::connection_limit:
        return close_reason::connection_limit;
    case error::frontend_connection_limit:
        return close_reason::frontend_connection_limit;
    case error::route_connection_limit:
        return close_reason::route_connection_limit;
    case error::client_connection_limit:
        return close_reason::client_connection_limit;
    case error::client_handshake_limit:
        return close_reason::client_handshake_limit;
    case error::handshake_shed:
        return close_reason::handshake_shed;
    case error::client_not_allowed:
        return close_reason::client_not_allowed;
    case error::client_certificate_expired:
        return close_reason::client_certificate_expired;
    case error::client_hello_changed:
        return close_reason::client_hello_changed;
    default: // No list or limit has refused it.
        return close_reason::handshake_failed;
    }
}

close_reason proxy_header_reason(error_code why) noexcept
{
    // The connection ended before a byte of the header: part of one is error::bad_proxy_header.
    if (why == error::closed || is_reset(why))
        return close_reason::client_silent;
    if (why == error::bad_proxy_header || why == error::proxy_checksum)
        return close_reason::bad_proxy_header;
    if (why == error::handshake_evicted)
        return close_reason::handshake_evicted;
    return why == error::handshake_timeout ? close_reason::handshake_timeout
                                           : close_reason::client_gone;
}

close_reason connect_reason(error_code why) noexcept
{
    if (why == error::connect_timeout)
        return close_reason::upstream_timeout;
    bool const is_tls = why.category() == error_category();
    return is_tls ? close_reason::upstream_tls_failed : close_reason::upstream_unreachable;
}

close_reason upstream_reason(error_code why) noexcept
{
    if (is_out_of_resources(why))
        return close_reason::out_of_resources;
    if (why == error::truncated)
        return close_reason::upstream_truncated;
    bool const is_tls = why.category() == error_category() && why != error::closed;
    return is_tls ? close_reason::upstream_failed : close_reason::upstream_reset;
}

} // namespace

close_reason reason_for(phase where, error_code why) noexcept
{
    if (where == phase::upstream_io)
        return upstream_reason(why);
    if (why == error::stopped)
        return close_reason::stopped;
    if (is_out_of_resources(why))
        return close_reason::out_of_resources;
    if (why == error::stalled_evicted)
        return close_reason::stalled_evicted;
    if (why == error::local_ports_used_up)
        return close_reason::local_ports_used_up;
    if (why == error::no_server)
        return close_reason::no_server;
    if (why == error::servers_full)
        return close_reason::servers_full;
    switch (where) {
    case phase::admission:
        return refusal_reason(why);
    case phase::proxy_header:
        return proxy_header_reason(why);
    case phase::first_byte:
        return why == error::truncated || is_reset(why) ? close_reason::client_silent
                                                        : handshake_reason(why);
    case phase::handshake:
        return handshake_reason(why);
    case phase::connect:
        return connect_reason(why);
    case phase::client_io:
        return is_reset(why) ? close_reason::client_reset : close_reason::client_failed;
    case phase::relay_wait:
        return why == error::idle_timeout ? close_reason::idle_timeout
                                          : close_reason::out_of_resources;
    case phase::linger_wait:
        return why == error::idle_timeout ? close_reason::linger_timeout
                                          : close_reason::out_of_resources;
    case phase::upstream_io:
        break;
    }
    return close_reason::upstream_reset;
}

std::string_view name_of(close_reason why) noexcept // house(function-length): row by row
{
    switch (why) {
    case close_reason::done:
        return "done";
    case close_reason::client_silent:
        return "client-silent";
    case close_reason::idle_timeout:
        return "idle-timeout";
    case close_reason::linger_timeout:
        return "linger-timeout";
    case close_reason::stopped:
        return "stopped";
    case close_reason::handshake_timeout:
        return "handshake-timeout";
    case close_reason::handshake_evicted:
        return "handshake-evicted";
    case close_reason::handshake_shed:
        return "handshake-shed";
    case close_reason::handshake_failed:
        return "handshake-failed";
    case close_reason::client_reset:
        return "client-reset";
    case close_reason::client_gone:
        return "client-gone";
    case close_reason::client_truncated:
        return "client-truncated";
    case close_reason::client_failed:
        return "client-failed";
    case close_reason::upstream_unreachable:
        return "upstream-unreachable";
    case close_reason::upstream_timeout:
        return "upstream-timeout";
    case close_reason::upstream_reset:
        return "upstream-reset";
    case close_reason::client_not_allowed:
        return "client-not-allowed";
    case close_reason::client_certificate_expired:
        return "client-certificate-expired";
    case close_reason::client_hello_changed:
        return "client-hello-changed";
    case close_reason::upstream_tls_failed:
        return "upstream-tls-failed";
    case close_reason::upstream_truncated:
        return "upstream-truncated";
    case close_reason::upstream_failed:
        return "upstream-failed";
    case close_reason::untrusted_proxy:
        return "untrusted-proxy";
    case close_reason::address_denied:
        return "address-denied";
    case close_reason::address_not_allowed:
        return "address-not-allowed";
    case close_reason::stalled_evicted:
        return "stalled-evicted";
    case close_reason::memory_limit:
        return "memory-limit";
    case close_reason::connection_limit:
        return "connection-limit";
    case close_reason::frontend_connection_limit:
        return "frontend-connection-limit";
    case close_reason::route_connection_limit:
        return "route-connection-limit";
    case close_reason::client_connection_limit:
        return "client-connection-limit";
    case close_reason::client_handshake_limit:
        return "client-handshake-limit";
    case close_reason::bad_proxy_header:
        return "bad-proxy-header";
    case close_reason::local_ports_used_up:
        return "local-ports-used-up";
    case close_reason::no_server:
        return "no-server";
    case close_reason::servers_full:
        return "servers-full";
    case close_reason::out_of_resources:
        return "out-of-resources";
    }
    return "unknown";
}

} // namespace cleat::app
