#include "connection_log.hpp"
#include "proxy_protocol.hpp"

#include <cleat/tls/alert.hpp>

#include <fmt/format.h>

#include <chrono>
#include <new>
#include <span>

namespace cleat::app {
namespace {

// add_text adds a text that takes memory to make. Where there is none, the line goes without it.
template <class Make>
void add_text(log_line& to, std::string_view key, Make make) noexcept
{
    try {
        to.add(key, make());
    } catch (std::bad_alloc const&) {
    }
}

} // namespace

close_reason reason_for_connect(error_code why) noexcept
{
    return why == error::connect_timeout ? close_reason::upstream_timeout
           : why == error::stopped       ? close_reason::stopped
           : is_out_of_resources(why)    ? close_reason::out_of_resources
                                         : close_reason::upstream_unreachable;
}

connection_log::connection_log(
    worker_service& at, std::string_view frontend, net::address const& peer,
    std::string const& proxy_header) noexcept
    : at_{at}
    , frontend_{frontend}
    , peer_{peer}
    , proxy_header_{proxy_header}
    , begun_{at.worker().now()}
{
    at_.on_connection();
}

connection_log::~connection_log()
{
    if (!told_)
        tell();
    at_.on_close(reason_);
}

// Behind a load balancer the peer is the balancer, and the client whom it announces.
void connection_log::add_who(log_line& to) const noexcept
{
    to.add("frontend", frontend_);
    add_text(to, "peer", [&] { return net::to_string(peer_); });
    if (proxy_header_.empty())
        return;
    try { // A header with a checksum takes memory to read.
        std::span const header{
            reinterpret_cast<std::uint8_t const*>(proxy_header_.data()), proxy_header_.size()};
        socket_address const source = read_proxy_header(header).header.source;
        if (source.family != address_family::unspecified)
            to.add("source", to_string(source));
    } catch (std::bad_alloc const&) {
    }
}

void connection_log::proxy_header_failed(error_code why) noexcept
{
    // A client that has closed, or broken off, has not sent one byte: what is wrong with a header
    // that has begun is another error.
    if (why == error::closed || is_reset(why)) {
        reason_ = close_reason::client_silent;
        return;
    }
    reason_ = why == error::bad_proxy_header    ? close_reason::bad_proxy_header
              : why == error::handshake_timeout ? close_reason::handshake_timeout
              : why == error::stopped           ? close_reason::stopped
              : is_out_of_resources(why)        ? close_reason::out_of_resources
                                                : close_reason::client_gone;
    told_ = true;
    if (!at_.log().wants(log_level::warning))
        return;
    log_line line = at_.log().warning("proxy-header-failed");
    add_who(line);
    line.add("reason", why);
}

void connection_log::handshake_failed(error_code why, tls::engine const& engine) noexcept
{
    // Who opens a connection only to see that it opens has had what it came for.
    if (!engine.has_received() && (why == error::truncated || is_reset(why))) {
        reason_ = close_reason::client_silent;
        return;
    }
    reason_ = why == error::handshake_timeout ? close_reason::handshake_timeout
              : why == error::stopped         ? close_reason::stopped
              : why == error::truncated       ? close_reason::client_gone
              : is_reset(why)                 ? close_reason::client_reset
              : is_out_of_resources(why)      ? close_reason::out_of_resources
                                              : close_reason::handshake_failed;
    told_ = true;
    if (!at_.log().wants(log_level::warning))
        return;
    log_line line = at_.log().warning("handshake-failed");
    add_who(line);
    line.add("reason", why);
    if (std::string_view const name = engine.info().server_name; !name.empty())
        line.add("sni", name);
    tls::failure_info const& more = engine.failure();
    if (more.peer_alert >= 0)
        line.add("alert", tls::alert_name(more.peer_alert));
    if (!more.reason.empty())
        line.add("detail", more.reason);
}

void connection_log::handshake_done(tls::engine const& engine)
{
    if (!at_.log().wants(log_level::info))
        return;
    tls::handshake_info const info = engine.info();
    log_line line = at_.log().info("handshake-done");
    add_who(line);
    line.add("sni", info.server_name)
        .add("alpn", info.alpn)
        .add("version", info.version)
        .add("cipher", info.cipher)
        .add("group", info.group)
        .add("resumed", info.resumed);
}

void connection_log::connect_failed(error_code why) noexcept
{
    reason_ = reason_for_connect(why);
    told_ = true;
    if (!at_.log().wants(log_level::error))
        return;
    log_line line = at_.log().error("connect-failed");
    add_who(line);
    add_text(line, "upstream", [&] { return to_string(*at_.current().settings.backend); });
    line.add("reason", why);
}

void connection_log::ended(relay_outcome how, tls::engine const& engine) noexcept
{
    reason_ = how.reason;
    tell(how.error, &engine.failure());
    told_ = true;
}

void connection_log::tell(error_code why, tls::failure_info const* more) noexcept
{
    bool const good = is_good(reason_);
    log_level const level = good ? log_level::info : log_level::warning;
    if (!at_.log().wants(level))
        return;
    auto const lasted =
        std::chrono::duration_cast<std::chrono::milliseconds>(at_.worker().now() - begun_);
    log_line line = at_.log().line(level, "connection-closed");
    add_who(line);
    line.add("reason", name_of(reason_))
        .add("up_bytes", moved_.up)
        .add("down_bytes", moved_.down)
        .add("duration_ms", lasted.count());
    if (why && !good)
        line.add("error", why);
    if (more != nullptr && !more->reason.empty())
        line.add("detail", more->reason);
}

} // namespace cleat::app
