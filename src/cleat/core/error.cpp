#include <cleat/core/error.hpp>

#include <cerrno>
#include <string>

namespace cleat {
namespace {

struct row
{
    std::string_view name;
    std::string_view text;
};

// One row for each value. The switch has no default, so a value without a row does not compile.
constexpr row row_of(error e) noexcept // house(function-length): a table, row by row
{
    switch (e) {
    case error::handshake_timeout:
        return {"handshake-timeout", "the handshake was not finished in time"};
    case error::not_tls:
        return {"not-tls", "the first bytes are not TLS"};
    case error::http_request:
        return {"http-request", "plain HTTP was spoken to a TLS port"};
    case error::proxy_header:
        return {"proxy-header", "a PROXY header came where TLS begins"};
    case error::no_shared_version:
        return {"no-shared-version", "no TLS version in common"};
    case error::no_shared_cipher:
        return {"no-shared-cipher", "no cipher suite in common"};
    case error::no_shared_group:
        return {"no-shared-group", "no key exchange group in common"};
    case error::hello_too_long:
        return {"hello-too-long", "the ClientHello is longer than any client's"};
    case error::unknown_name:
        return {"unknown-name", "no certificate for the name that SNI asked for"};
    case error::no_client_certificate:
        return {"no-client-certificate", "a client certificate is required and none was sent"};
    case error::bad_certificate:
        return {"bad-certificate", "the peer's certificate does not verify"};
    case error::alpn_mismatch:
        return {"alpn-mismatch", "no application protocol in common"};
    case error::peer_alert:
        return {"peer-alert", "the peer sent a fatal alert"};
    case error::protocol_violation:
        return {"protocol-violation", "the peer broke the TLS protocol"};
    case error::truncated:
        return {"truncated", "the peer's connection ended without close_notify"};
    case error::closed:
        return {"closed", "the peer closed the connection"};
    case error::write_after_close:
        return {"write-after-close", "this side of the connection is already closed"};
    case error::renegotiation:
        return {"renegotiation", "the peer asked to renegotiate"};
    case error::bad_retry:
        return {"bad-retry", "a write was retried with other bytes"};
    case error::connect_timeout:
        return {"connect-timeout", "the upstream did not accept in time"};
    case error::local_ports_used_up:
        return {"local-ports-used-up", "all local ports to this address are in use"};
    case error::no_server:
        return {"no-server", "all servers are drained, or have no address yet"};
    case error::servers_full:
        return {"servers-full", "each server has as many connections as it may"};
    case error::idle_timeout:
        return {"idle-timeout", "nothing moved in either direction for too long"};
    case error::bad_proxy_header:
        return {"bad-proxy-header", "the PROXY header is malformed"};
    case error::proxy_checksum:
        return {"proxy-checksum", "the PROXY header's checksum is wrong"};
    case error::untrusted_proxy:
        return {"untrusted-proxy", "the peer may not send a PROXY header"};
    case error::address_denied:
        return {"address-denied", "the client's address is denied"};
    case error::address_not_allowed:
        return {"address-not-allowed", "the client's address is not among those allowed"};
    case error::connection_limit:
        return {"connection-limit", "as many connections are open as may be in all"};
    case error::frontend_connection_limit:
        return {"frontend-connection-limit", "the frontend has as many connections as it may"};
    case error::route_connection_limit:
        return {"route-connection-limit", "the route has as many connections as it may"};
    case error::client_connection_limit:
        return {"client-connection-limit", "the client has as many connections as it may"};
    case error::client_handshake_limit:
        return {"client-handshake-limit", "the client begins handshakes too often"};
    case error::client_not_allowed:
        return {"client-not-allowed", "the client's certificate meets no rule"};
    case error::client_certificate_expired:
        return {
            "client-certificate-expired", "the certificate of the client's session has expired"};
    case error::client_hello_changed:
        return {"client-hello-changed", "the client's second ClientHello asks for another route"};
    case error::handshake_evicted:
        return {
            "handshake-evicted", "descriptors or memory ran out before the handshake was finished"};
    case error::handshake_shed:
        return {"handshake-shed", "more handshakes wait than can be served in time"};
    case error::memory_limit:
        return {"memory-limit", "as much memory is in use as may be"};
    case error::stalled_evicted:
        return {
            "stalled-evicted", "memory is short, and the receiver has stopped to take its bytes"};
    case error::stopped:
        return {"stopped", "the worker is ending"};
    case error::certificate_expired:
        return {"certificate-expired", "the server's certificate has expired"};
    case error::certificate_not_yet_valid:
        return {"certificate-not-yet-valid", "the server's certificate is not valid yet"};
    case error::certificate_revoked:
        return {"certificate-revoked", "the server's certificate is revoked"};
    case error::unknown_authority:
        return {"unknown-authority", "no trusted authority has signed the server's certificate"};
    case error::wrong_name:
        return {"wrong-name", "the server's certificate is for another name"};
    case error::wrong_role:
        return {
            "wrong-role", "the TLS context is for the other role: make a server's with tls_server "
                          "or role::server, and a client's with tls_client or role::client"};
    case error::no_handshake:
        return {
            "no-handshake", "the TLS handshake is not finished: call handshake or async_handshake "
                            "before reads, writes and a shutdown"};
    case error::handshake_begun:
        return {"handshake-begun", "the TLS handshake has begun: make this setting before it"};
    case error::bad_host_name:
        return {
            "bad-host-name", "the host is neither a DNS name nor an IP address: give it without "
                             "scheme, port, path and brackets"};
    case error::no_session:
        return {"no-session", "the session to resume is empty"};
    case error::bad_verify_setting:
        return {
            "bad-verify-setting", "verify_fail_if_no_peer_cert needs verify_peer, there are no "
                                  "other flags, and a depth is not negative"};
    case error::unsupported:
        return {"unsupported", "the TLS library in use cannot do this"};
    case error::certificate_unavailable:
        return {"certificate-unavailable", "the certificate for this client cannot be loaded"};
    case error::unusable_pem:
        return {"unusable-pem", "no usable certificate or private key in PEM form"};
    case error::key_mismatch:
        return {"key-mismatch", "the private key does not belong to the certificate"};
    case error::handler_exception:
        return {"handler-exception", "the handler has thrown an exception"};
    case error::unusable_context:
        return {
            "unusable-context",
            "the settings of the TLS context cannot be used (its check() says why)"};
    case error::library:
        return {"library", "the TLS library failed"};
    }
    return {"unknown", "unknown error"};
}

class category final : public boost::system::error_category
{
public:
    [[nodiscard]] char const* name() const noexcept override { return "cleat"; }
    [[nodiscard]] std::string message(int value) const override
    {
        return std::string{row_of(static_cast<error>(value)).text};
    }
    [[nodiscard]] boost::system::error_condition default_error_condition(
        int value) const noexcept override
    {
        namespace errc = boost::system::errc;
        switch (static_cast<error>(value)) {
        case error::wrong_role:
        case error::bad_host_name:
        case error::no_session:
        case error::bad_verify_setting:
            return make_error_condition(errc::invalid_argument);
        case error::no_handshake:
            return make_error_condition(errc::not_connected);
        case error::handshake_begun:
            return make_error_condition(errc::already_connected);
        default:
            return {value, *this};
        }
    }
};

} // namespace

boost::system::error_category const& error_category() noexcept
{
    static category const instance;
    return instance;
}

error_code make_error_code(error e) noexcept
{
    return {static_cast<int>(e), error_category()};
}

std::string_view name_of(error e) noexcept
{
    return row_of(e).name;
}

error_code last_system_error() noexcept
{
    return {errno, boost::system::system_category()};
}

bool is_reset(error_code ec) noexcept
{
    return ec == boost::system::errc::connection_reset || ec == boost::system::errc::broken_pipe;
}

bool is_denied(error_code ec) noexcept
{
    namespace errc = boost::system::errc;
    return ec == errc::permission_denied || ec == errc::operation_not_permitted;
}

bool is_out_of_resources(error_code ec) noexcept
{
    namespace errc = boost::system::errc;
    return ec == errc::too_many_files_open || ec == errc::too_many_files_open_in_system ||
           ec == errc::no_buffer_space || ec == errc::not_enough_memory ||
           ec == errc::no_space_on_device; // epoll_ctl's limit (max_user_watches).
}

} // namespace cleat
