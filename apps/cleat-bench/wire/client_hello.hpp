// client_hello: writes a ClientHello of any version with anything in it, also what no TLS library
// would send (RFC 8446, section 4.1.2; RFC 6101, section 5.6.1.2).

#pragma once

#include "wire/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench::wire {

/// extension_type has the registered numbers that are used here.
enum class extension_type : std::uint16_t
{
    server_name = 0,
    status_request = 5,
    supported_groups = 10,
    ec_point_formats = 11,
    signature_algorithms = 13,
    heartbeat = 15,
    alpn = 16,
    padding = 21,
    encrypt_then_mac = 22,
    extended_master_secret = 23,
    session_ticket = 35,
    supported_versions = 43,
    key_share = 51,
    next_protocol = 13172, ///< The draft before ALPN.
    renegotiation_info = 0xff01
};

/// extension is one extension in a hello.
struct extension
{
    std::uint16_t type = 0;
    std::string contents;

    extension(extension_type known, std::string bytes)
        : type{static_cast<std::uint16_t>(known)}, contents{std::move(bytes)}
    {
    }
    extension(std::uint16_t number, std::string bytes) : type{number}, contents{std::move(bytes)} {}
};

/// client_hello is what is written. The defaults have no suites.
struct client_hello
{
    std::uint16_t legacy_version = static_cast<std::uint16_t>(version::tls_1_2);
    /// A hello for the first time has 0x0301 on its records for the sake of old servers (RFC 8446,
    /// section 5.1).
    std::uint16_t record_version = static_cast<std::uint16_t>(version::tls_1_0);
    std::string session_id;
    std::vector<std::uint16_t> suites;
    std::string compressions = std::string(1, '\0');
    std::vector<extension> extensions;
};

// Extensions. Each is as its RFC writes it.
[[nodiscard]] extension server_name(std::string_view name);
[[nodiscard]] extension supported_groups(std::span<std::uint16_t const> groups);
[[nodiscard]] extension ec_point_formats();
[[nodiscard]] extension signature_algorithms(std::span<std::uint16_t const> schemes);
[[nodiscard]] extension supported_versions(std::span<std::uint16_t const> offered);
/// Without a share, the server has to ask for one: its HelloRetryRequest names the group.
[[nodiscard]] extension no_key_share();
/// Any 32 bytes are a public key of X25519 (RFC 7748, section 5).
[[nodiscard]] extension x25519_key_share();
[[nodiscard]] extension alpn(std::span<std::string const> protocols);
[[nodiscard]] extension heartbeat();
[[nodiscard]] extension status_request();
[[nodiscard]] extension session_ticket(std::string_view ticket);
[[nodiscard]] extension padding(std::size_t size);
/// empty_extension is for those that only say that the client has a feature.
[[nodiscard]] extension empty_extension(extension_type type);
[[nodiscard]] extension renegotiation_info();

/// has_extension: the hello has one of this type.
[[nodiscard]] bool has_extension(client_hello const& hello, extension_type type) noexcept;

/// message_of is the handshake message: type, length and body.
[[nodiscard]] std::string message_of(client_hello const& hello);

/// pad_to adds the padding extension (RFC 7685) that makes the handshake message so long. False
/// where it is longer already, or shorter by less than an extension needs.
bool pad_to(client_hello& hello, std::size_t message_size);

inline constexpr std::size_t fragment_max = 16384;

/// record_type is the first byte of a record (RFC 8446, section 5.1; RFC 6520).
enum class record_type : std::uint8_t
{
    change_cipher_spec = 20,
    alert = 21,
    handshake = 22,
    application_data = 23,
    heartbeat = 24
};

/// record is the header and the contents, at most fragment_max bytes.
[[nodiscard]] std::string record(
    record_type type, std::uint16_t record_version, std::string_view contents);

/// records_of is the hello in as many records as fragments of this size need.
[[nodiscard]] std::string records_of(
    client_hello const& hello, std::size_t fragment_size = fragment_max);

} // namespace cleat::bench::wire
