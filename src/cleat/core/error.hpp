// error: every failure of cleat's own code, as one enum in one category.

#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <string_view>

namespace cleat {

using boost::system::error_code;

/// result is a value, or the error_code of the failure.
template <class T>
using result = boost::system::result<T>;

/// error is a failure on the data path. The operating system's errors keep their own category.
enum class error
{
    // The peer, during the handshake.
    handshake_timeout = 1, ///< The handshake was not finished before its deadline.
    not_tls,               ///< The first bytes are no TLS record.
    http_request,          ///< The first bytes are a plain HTTP request.
    proxy_header,          ///< The first bytes are a PROXY header where none is expected.
    no_shared_version,     ///< No protocol version that both sides allow.
    no_shared_cipher,      ///< No cipher suite that both sides allow.
    no_shared_group,       ///< No key exchange group that both sides allow.
    hello_too_long,        ///< The ClientHello is longer than limits.hpp allows.
    unknown_name, ///< SNI names a server that has no certificate here, and strict SNI is on.
    no_client_certificate, ///< A client certificate is required and none was sent.
    bad_certificate,       ///< The peer's certificate does not verify.
    alpn_mismatch,         ///< No application protocol that both sides offer.
    peer_alert,            ///< The peer ended the handshake or connection with a fatal alert.
    protocol_violation,    ///< The peer broke TLS: a bad record, MAC, message or order.

    // The stream of bytes.
    truncated,         ///< The peer's FIN came before its close_notify: data may be missing.
    closed,            ///< The peer closed cleanly: close_notify, or FIN where there is no TLS.
    write_after_close, ///< This side has sent its close_notify and can send no more.
    renegotiation,     ///< The peer asked to renegotiate, which cleat refuses.
    bad_retry,         ///< A write was retried with other bytes than before.

    // Time, upstream and the process.
    connect_timeout,     ///< The upstream did not accept before the deadline.
    local_ports_used_up, ///< No local port is free for a connection to this address.
    no_server,           ///< All servers of the upstream are drained, or have no address yet.
    servers_full,        ///< Each server of the upstream has as many connections as it may.
    idle_timeout,        ///< No byte moved in either direction for the idle timeout.
    bad_proxy_header, ///< The PROXY header that the peer sent before TLS is malformed or too long.
    proxy_checksum,   ///< The PROXY header's checksum is not the one of its bytes.
    untrusted_proxy,  ///< The peer is not among those that may send a PROXY header.
    address_denied,   ///< The client's address is in the list of those that are not let in.
    address_not_allowed, ///< The client's address is not in the list of those that are let in.
    connection_limit,    ///< As many connections are open as may be in all.
    frontend_connection_limit,  ///< As many connections are open as the frontend may have.
    route_connection_limit,     ///< As many connections are open as the route may have.
    client_connection_limit,    ///< As many connections are open as one client may have.
    client_handshake_limit,     ///< The client has begun as many handshakes as it may for now.
    client_not_allowed,         ///< The client's certificate meets no rule.
    client_certificate_expired, ///< The certificate of a session that resumes has expired.
    client_hello_changed,       ///< The second ClientHello is for another route than the first.
    handshake_evicted, ///< Descriptors or memory ran out before the handshake was finished.
    handshake_shed,    ///< More handshakes wait than can be served in time.
    memory_limit,      ///< As much memory is in use as may be.
    stalled_evicted,   ///< Memory is short, and the receiver of the bytes has stopped to take them.
    stopped,           ///< The worker is ending.

    // A client's verdict on its server's certificate. bad_certificate is any other fault.
    certificate_expired,       ///< Its time is over.
    certificate_not_yet_valid, ///< Its time has not begun.
    certificate_revoked,       ///< A CRL has it, or an authority above it.
    unknown_authority,         ///< No authority that is trusted has signed it.
    wrong_name,                ///< It is for another name or address.

    // A program's calls of a stream and its context. Each is the errc of the comment, too.
    wrong_role,         ///< The context is for the other role. errc::invalid_argument.
    no_handshake,       ///< The handshake of this stream is not finished. errc::not_connected.
    handshake_begun,    ///< A stream's setting after its handshake began. errc::already_connected.
    bad_host_name,      ///< Neither a DNS name nor an IP address. errc::invalid_argument.
    no_session,         ///< The session to resume is empty. errc::invalid_argument.
    bad_verify_setting, ///< A mode or depth that has no meaning. errc::invalid_argument.

    // The program.
    unsupported,             ///< The linked TLS library cannot do this.
    certificate_unavailable, ///< The certificate that a client needs cannot be loaded.
    unusable_pem,      ///< A text has no certificate or key in PEM, or one that cannot be decoded.
    key_mismatch,      ///< A private key does not belong to its certificate.
    handler_exception, ///< A server's handler has thrown an exception that has no error_code.
    unusable_context,  ///< The settings of a TLS context cannot be used.
    library, ///< The TLS library failed in a way that has no other value; the log has its text.
};

/// error_category is the one category of cleat's errors. There is one instance in a process.
[[nodiscard]] boost::system::error_category const& error_category() noexcept;

/// make_error_code lets error convert to error_code.
[[nodiscard]] error_code make_error_code(error e) noexcept;

/// name_of is the error's short name as logs and metrics spell it: "handshake-timeout".
[[nodiscard]] std::string_view name_of(error e) noexcept;

/// last_system_error is errno, of the call that has just failed on this thread.
[[nodiscard]] error_code last_system_error() noexcept;

/// is_reset: the peer has reset the connection: ECONNRESET, or EPIPE where a write finds it first.
[[nodiscard]] bool is_reset(error_code ec) noexcept;

/// is_denied: the process lacks the right: EACCES or EPERM.
[[nodiscard]] bool is_denied(error_code ec) noexcept;

/// is_out_of_resources: the process or the system has no free descriptor or no memory now.
[[nodiscard]] bool is_out_of_resources(error_code ec) noexcept;

} // namespace cleat

template <>
struct boost::system::is_error_code_enum<cleat::error> : std::true_type
{
};
