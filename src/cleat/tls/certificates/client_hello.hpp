// client_hello: what a ClientHello's raw parts say about certificates. Pure functions over bytes.
//
// The TLS library has already checked the message's outer form, and checks the inner form later.
// These functions take malformed parts for absent ones; the library refuses them.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::tls {

using octets = std::span<std::uint8_t const>;

/// extension is the number of an extension that a server's certificate depends on (RFC 8446,
/// section 4.2).
enum class extension : std::uint16_t
{
    server_name = 0,
    status_request = 5,
    supported_groups = 10,
    signature_algorithms = 13,
    compress_certificate = 27,
    session_ticket = 35,
    pre_shared_key = 41,
    supported_versions = 43,
};

/// server_name_in is the host name in the body of a server_name extension (RFC 6066, section 3), or
/// empty.
[[nodiscard]] std::string_view server_name_in(octets body) noexcept;

/// client_offer is the raw parts by which a server decides which of its certificates a client can
/// use.
struct client_offer
{
    octets cipher_suites;        ///< The suites' bytes, without the length before them.
    octets signature_algorithms; ///< Like the next two, an extension's body; empty: not sent.
    octets supported_groups;
    octets supported_versions;
};

/// server_side is what the server's settings allow.
struct server_side
{
    bool tls_1_3 = true;
    bool tls_1_2 = true;
    std::span<std::uint16_t const>
        ecdsa_suites; ///< TLS 1.2 suites that an ECDSA or Ed25519 key signs.
};

/// can_use: the client can verify a certificate with such a key, in the version that the handshake
/// will choose.
[[nodiscard]] bool can_use(
    client_offer const& offer, server_side const& server, key_type key) noexcept;

} // namespace cleat::tls
