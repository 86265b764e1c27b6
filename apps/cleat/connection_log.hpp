// connection_log: counts a connection, and writes its lines of the log.

#pragma once

#include "byte_counts.hpp"
#include "close_reason.hpp"
#include "relay.hpp"
#include "worker_service.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/tls/engine.hpp>

#include <string>
#include <string_view>

namespace cleat::app {

/// reason_for_connect says what an error of connect is to a connection.
[[nodiscard]] close_reason reason_for_connect(error_code why) noexcept;

/// connection_log counts its connection from its making to its end, and writes a line when a
/// handshake, a connect or the connection ends. A failure is a warning, and so is an end that may
/// have cut something off; another end is information.
class connection_log
{
public:
    /// frontend: where the peer connected to. proxy_header is the PROXY header that it sends
    /// before TLS, empty until it has. All of them outlive the connection_log.
    connection_log(
        worker_service& at, std::string_view frontend, net::address const& peer,
        std::string const& proxy_header) noexcept;
    connection_log(connection_log&&) = delete;
    ~connection_log();

    void proxy_header_failed(error_code why) noexcept;
    void handshake_failed(error_code why, tls::engine const& engine) noexcept;
    void handshake_done(tls::engine const& engine);
    void connect_failed(error_code why) noexcept;
    void ended(relay_outcome how, tls::engine const& engine) noexcept;

    /// moved is where the relay counts.
    [[nodiscard]] byte_counts& moved() noexcept { return moved_; }

private:
    void tell(error_code why = {}, tls::failure_info const* more = nullptr) noexcept;
    void add_who(log_line& to) const noexcept;

    worker_service& at_;
    std::string_view frontend_;
    net::address const& peer_;
    std::string const& proxy_header_;
    net::worker::clock::time_point begun_;
    byte_counts moved_;
    close_reason reason_ = close_reason::out_of_resources; // Where std::bad_alloc has ended it.
    bool told_ = false;
};

} // namespace cleat::app
