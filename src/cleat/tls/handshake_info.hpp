// handshake_info: the parameters that the two sides agreed on.

#pragma once

#include <cstdint>
#include <string_view>

namespace cleat::tls {

/// early_data is the result of a client's 0-RTT data (RFC 8446, section 4.2.10). The server drops
/// rejected data unread: send the same bytes again.
enum class early_data : std::uint8_t
{
    not_offered,
    rejected,
    accepted
};

/// ticket_use is what a server did with the session ticket, or the ID of a session, that its client
/// offered.
enum class ticket_use : std::uint8_t
{
    none,        ///< The client offered none.
    unknown_key, ///< Sealed with another secret, or in an epoch whose keys are gone or not made
                 ///< yet.
    opened,      ///< Unless the session was then resumed, it had expired, or was of another scope.
    unknown_id,  ///< No session is known by this ID, or not any more.
    found_id,    ///< As `opened`.
};

/// client_ticket is the ticket that a client offered.
struct client_ticket
{
    /// Its use by the server.
    ticket_use use = ticket_use::none;
    /// The number of the secret that opened it: 0 is context_spec::tickets, and then come the
    /// accepted secrets.
    std::uint8_t secret = 0;
    /// Seconds since 1970: its session was made by this time, on a host whose clock may be ahead of
    /// this host's. 0: this host's clock is past that time. 32 bits, which end in 2106, keep the
    /// engine small.
    std::uint32_t made_by = 0;
    /// Where its session was resumed: seconds since the session was made. In TLS 1.3 that is since
    /// the handshake that sent the ticket, and in TLS 1.2 since the session's full handshake.
    std::uint32_t age = 0;
};

/// handshake_info is valid once the handshake is done. The views live as long as the engine.
struct handshake_info
{
    std::string_view version; ///< "TLSv1.2" or "TLSv1.3".
    std::string_view cipher;  ///< The suite's name: IANA's for 1.3, OpenSSL's for 1.2.
    std::string_view group;   ///< Key exchange group, "X25519MLKEM768"; empty for RSA key exchange.
    std::string_view
        signature_scheme; ///< Of the server's CertificateVerify or ServerKeyExchange; empty where
                          ///< there is none: a resumed handshake, RSA key exchange.
    std::string_view
        server_name; ///< SNI as the client sent it; empty if it sent none (RFC 6066, section 3).
    std::string_view alpn; ///< The protocol agreed on; empty if none (RFC 7301).
    bool resumed = false;  ///< The handshake resumed a session.
    client_ticket ticket;  ///< A server's only.
    bool peer_certificate =
        false; ///< The peer sent a certificate, in this or the resumed handshake.
    early_data early = early_data::not_offered; ///< For the bytes of engine::write_early.
};

} // namespace cleat::tls
