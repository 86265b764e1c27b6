// connection_log: counts a connection, and writes its log lines.

#pragma once

#include "access/access_entry.hpp"
#include "connection/handshake_phases.hpp"
#include "counts/close_reason.hpp"
#include "failures/failure_example.hpp"
#include "log/log.hpp"
#include "proxy/inbound_header.hpp"
#include "worker/byte_counts.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>
#include <cleat/net/socket_options.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/certificates/client_certificate.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// connection_log counts a connection from its constructor to its destructor. When the connection
/// ends, it writes its line of the access log, where there is one. In the log it writes a line when
/// the handshake is done, and one when the connection ends. A PROXY header, handshake or connect
/// that fails has a line of its own instead of the line for the end. That line is a warning, with
/// two exceptions: a failed connect is an error; a handshake with a client that does not speak TLS,
/// that leaves, or that never sends a byte is info. A connection that is refused has a warning
/// connection-refused, and no other line. Other ends are info where the end is_good, and a warning
/// otherwise. Each reason for a failure or a refusal has at most log-burst lines in a minute.
class connection_log
{
public:
    /// `frontend` is where the connection came in. `proxy_header` is the PROXY header that the peer
    /// sends before TLS; null until it has come. All arguments outlive the connection_log.
    connection_log(
        frontend_socket const& frontend, net::address const& peer,
        std::unique_ptr<inbound_header> const& proxy_header) noexcept;
    connection_log(connection_log&&) = delete;
    ~connection_log();

    /// refused: the client's address may not connect, or the peer may not send a PROXY header.
    void refused(error_code why) noexcept;
    /// refused: a client with this certificate may not connect. The detail may be empty.
    void refused(
        error_code why, tls::engine const& engine, tls::client_certificate const& shown,
        std::string_view detail) noexcept;
    /// refused_by_route: the route has as many connections as it may have, or it is not the one
    /// that TLS began with. `route` is its conditions, and may be empty. The engine is null before
    /// TLS and in plaintext.
    void refused_by_route(
        error_code why, std::string_view server_name, std::string_view route,
        tls::engine const* engine = nullptr) noexcept;
    void proxy_header_failed(error_code why) noexcept;

    /// handshake_begins: takes the client's fingerprint, for the access log. The engine ends before
    /// this object.
    void handshake_begins(tls::engine& engine);
    void handshake_failed(error_code why, tls::engine const& engine) noexcept;
    void handshake_done(tls::engine const& engine, handshake_phases const& phases);

    /// hello_failed: the ClientHello was not received. has_bytes: a part of it was.
    void hello_failed(error_code why, bool has_bytes) noexcept;
    /// challenge_refused: there is no certificate that answers an ACME challenge for this name.
    void challenge_refused(std::string_view server_name, std::string_view why) noexcept;
    /// passthrough_begins: a route forwards the ClientHello.
    void passthrough_begins(
        std::string_view server_name, std::span<std::uint8_t const> client_hello);

    /// plaintext_begins: the client, which speaks no TLS, may connect.
    void plaintext_begins() noexcept;

    /// upstream_handshake: a handshake with a server that speaks TLS has ended, or the connect
    /// before it has failed. No error: it has succeeded.
    void upstream_handshake(
        error_code why, std::string_view server, tls::engine const& engine) noexcept;

    /// connected: the upstream has accepted, at this address, which outlives the log.
    void connected(net::address const& upstream) noexcept;
    /// connect_failed: `server` is the one that was tried last. It outlives the log. The engine is
    /// null where the client's TLS does not end here.
    void connect_failed(
        error_code why, std::string_view server, tls::engine const* engine = nullptr) noexcept;

    /// ended: the relay has ended. `why` is the error that caused it; no error for a clean end.
    /// `upstream` is the failure of the upstream's TLS, or null.
    void ended(
        close_reason reason, error_code why, tls::engine const* engine = nullptr,
        tls::failure_info const* upstream = nullptr) noexcept;

    /// ran_out_of_memory: the relay has ended for want of memory.
    void ran_out_of_memory() noexcept
    {
        ended(
            close_reason::out_of_resources,
            make_error_code(boost::system::errc::not_enough_memory));
    }

    /// traffic is where the relay counts.
    [[nodiscard]] byte_counts& traffic() noexcept { return traffic_; }

private:
    /// client_facts are what only some connections have a place for.
    struct client_facts
    {
        tls::ja4_fingerprint ja4{};
        std::string server_name{}; ///< Of a passthrough; otherwise the engine has it.
        bool is_passthrough = false;
    };

    [[nodiscard]] bool is_passthrough() const noexcept
    {
        return facts_ != nullptr && facts_->is_passthrough;
    }

    void count_phases(handshake_phases const& phases) noexcept;
    void write_closed(
        error_code why = {}, tls::engine const* engine = nullptr,
        tls::failure_info const* upstream = nullptr) noexcept;
    void write_access(error_code why = {}, tls::engine const* engine = nullptr) noexcept;
    [[nodiscard]] access_entry make_entry(error_code why, tls::engine const* engine) const;
    void add_facts(access_entry& entry, tls::engine const& engine) const;
    [[nodiscard]] std::string source() const;
    template <class Add>
    void write_refused(error_code why, tls::engine const* engine, Add add) noexcept;
    void write_handshake_failed(
        error_code why, bool is_strangers, tls::engine const* engine) noexcept;
    void add_addresses(log_line& line) const noexcept;
    void count_failure(
        failure_event event, std::size_t number, error_code why,
        tls::engine const* engine = nullptr) noexcept;
    [[nodiscard]] failure_example example_of(error_code why, tls::engine const* engine) const;

    [[nodiscard]] worker_service& service() const noexcept { return frontend_.service; }
    [[nodiscard]] logger const& log() const noexcept { return service().log(); }
    template <class Reason>
    [[nodiscard]] bool wants(log_level level, std::string_view event, Reason why) const noexcept
    {
        return log().wants(level) && service().connections().failures().admits(level, event, why);
    }
    [[nodiscard]] worker_counts& counts() const noexcept
    {
        return service().connections().counts();
    }
    [[nodiscard]] net::worker::clock::duration age() const noexcept
    {
        return service().worker().now() - traffic_.begun;
    }

    frontend_socket const& frontend_;
    net::address const& peer_;
    std::unique_ptr<inbound_header> const& proxy_header_;
    byte_counts traffic_;
    net::worker::clock::time_point established_{}; // Unset: not yet.
    net::worker::clock::time_point connected_{};
    std::unique_ptr<client_facts> facts_;    // With an access log, or of a passthrough.
    net::address const* upstream_ = nullptr; // Once it is connected.
    std::string_view server_;                // That did not accept.
    close_reason reason_ = close_reason::out_of_resources; // Unless set: std::bad_alloc ended it.
    bool written_ = false;                                 // The log has a line about the end.
    bool access_written_ = false;                          // The access log has its line.
};

} // namespace cleat::app
