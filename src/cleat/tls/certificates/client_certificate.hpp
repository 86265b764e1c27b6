// client_certificate: what a client's certificate says, as plain values.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleat::tls {

class engine;

/// client_certificate is the certificate of a client that is verified. Names are as they are in the
/// certificate, byte for byte: they may have any bytes.
struct client_certificate
{
    std::string common_name{};            ///< The last CN of the subject; empty: none.
    std::string subject{};                ///< As RFC 2253 writes names, in printable characters.
    std::string issuer{};                 ///< The same.
    std::vector<std::string> dns_names{}; ///< Of the SAN (RFC 5280, section 4.2.1.6), as the next.
    std::vector<std::string> uris{};
    std::vector<std::string> emails{};
    std::vector<std::string> addresses{};       ///< 4 or 16 bytes each, in network order.
    std::vector<std::string> purposes{};        ///< Of the EKU: "1.3.6.1.5.5.7.3.2". Empty: no EKU.
    std::array<std::uint8_t, 32> spki_sha256{}; ///< Of the SubjectPublicKeyInfo's DER.
    bool is_authority = false;
    std::int64_t valid_until = 0; ///< Seconds since 1970.
};

/// read_client_certificate reads the certificate of the peer of an established server, in this
/// handshake or in the one that it resumed. Nothing: the peer has shown none. Throws
/// std::bad_alloc.
[[nodiscard]] std::optional<client_certificate> read_client_certificate(engine const& server);

} // namespace cleat::tls
