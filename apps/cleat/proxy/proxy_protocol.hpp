// proxy_protocol: the bytes that announce a client to an upstream, before the client's own: PROXY
// headers of version 1 and 2, and stud's bare address. Pure functions over bytes: no sockets, and
// no state between calls.
//
// The format is that of proxy-protocol.txt, which HAProxy keeps; section numbers are of that
// document.

#pragma once

#include <cleat/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

enum class address_family : std::uint8_t
{
    unspecified,
    ipv4,
    ipv6,
    unix_socket
};

/// socket_address is an address as a header carries it, in network byte order.
struct socket_address
{
    address_family family = address_family::unspecified;
    std::uint16_t port = 0; ///< In host byte order; 0 for a UNIX socket.
    /// 4 bytes for IPv4, 16 for IPv6; for a UNIX socket its path, and then zeros.
    std::array<std::uint8_t, 108> bytes{};

    friend bool operator==(socket_address const&, socket_address const&) = default;
};

/// to_string spells an address as logs do: 192.0.2.1:443, [2001:db8::1]:443, unix:/path; an empty
/// text for an unspecified one.
[[nodiscard]] std::string to_string(socket_address const& address);

/// client_certificate says whether the client showed a certificate, and when.
enum class client_certificate : std::uint8_t
{
    none,
    in_this_connection,
    in_the_session, ///< In the session that this connection resumed.
};

/// tls_facts is the content of the TLV of type SSL (section 2.2.6). An empty text is left out.
struct tls_facts
{
    std::string_view version;               ///< "TLSv1.3"
    std::string_view cipher;                ///< "TLS_AES_128_GCM_SHA256"
    std::string_view group;                 ///< Key exchange: "X25519MLKEM768"
    std::string_view signature_scheme;      ///< Of our CertificateVerify: "ecdsa_secp256r1_sha256"
    std::string_view certificate_signature; ///< Of our certificate: "RSA-SHA256"
    std::string_view certificate_key;       ///< Of our certificate: "RSA2048"
    std::string_view client_common_name;    ///< Of the client's certificate, UTF-8
    client_certificate client = client_certificate::none;
    bool is_client_verified = false; ///< The client's certificate was shown, and verifies.
};

/// connection_facts is everything that a header can contain. The texts are borrowed: they must live
/// until the function that takes them returns.
struct connection_facts
{
    socket_address source;               ///< The client.
    socket_address destination;          ///< Where the client connected to.
    std::string_view alpn;               ///< The protocol that ALPN agreed; empty when none.
    std::string_view authority;          ///< The name that SNI asked for; empty when none.
    std::string_view client_certificate; ///< In PEM; empty: left out.
    std::optional<tls_facts> tls;
    /// TLVs of the header that the client's balancer has sent: see append_proxy_v2.
    std::span<std::uint8_t const> inbound_tlvs{};
};

/// header_checksum says whether a PROXY v2 header carries a CRC32c of itself.
enum class header_checksum : bool
{
    off,
    on
};

/// append_write_ip appends one byte of address family as Linux numbers it (2 for IPv4, 10 for
/// IPv6), and the 4 or 16 bytes of the client's address, in network byte order. Any other family is
/// errc::address_family_not_supported, and appends nothing.
[[nodiscard]] error_code append_write_ip(std::string& out, socket_address const& client);

/// append_proxy_v1 appends a header of version 1 (section 2.1). A connection that is not TCP over
/// one IP version is announced as UNKNOWN.
void append_proxy_v1(std::string& out, connection_facts const& facts);

/// append_proxy_v2 appends a header of version 2 (section 2.2) with a TLV for each fact, and the
/// inbound TLVs that is_passed_on lets through. Addresses of different families, or of none, are
/// announced as UNSPEC. A header that is longer than limits::proxy_header_max without the client's
/// certificate and the inbound TLVs, and a certificate longer than limits::proxy_certificate_max,
/// is errc::message_size, and appends nothing.
[[nodiscard]] error_code append_proxy_v2(
    std::string& out, connection_facts const& facts,
    header_checksum checksum = header_checksum::off);

/// is_passed_on: an inbound TLV goes to the upstream, too. Those of TLS are about the balancer's
/// connection, which ends here: cleat writes its own. A checksum is of one header, and padding too.
[[nodiscard]] bool is_passed_on(std::uint8_t type, connection_facts const& facts) noexcept;

/// append_proxy_v2_local appends the header of a connection that is the proxy's own: a health
/// check.
void append_proxy_v2_local(std::string& out);

/// proxy_header is a header that was read.
struct proxy_header
{
    std::size_t size = 0;  ///< Bytes of the header; TLS begins after them.
    int version = 0;       ///< 1 or 2.
    bool is_local = false; ///< The sender's own connection: the addresses are the socket's.
    /// Of family `unspecified` where the header has none: use the socket's own then.
    socket_address source;
    socket_address destination;
    std::span<std::uint8_t const> tlvs; ///< Checked, to be read with next_tlv. Borrows the input.
};

enum class proxy_verdict
{
    need_more, ///< The bytes so far are the beginning of a header.
    complete,
    malformed, ///< No header, or one that is too long. The connection must end (section 2).
};

/// proxy_fault is why bytes are no header.
enum class proxy_fault : std::uint8_t
{
    none,
    no_header,       ///< No header begins like this.
    line_too_long,   ///< Version 1: no end within 107 bytes.
    line,            ///< Version 1: its words are not those of section 2.1.
    unknown_version, ///< Of a binary header: another one than 2, or an unknown command.
    family,          ///< An unknown family or protocol.
    long_unique_id,  ///< UNIQUE_ID has more than 128 bytes (section 2.2.5).
    too_long,        ///< Longer than limits::proxy_header_max.
    no_addresses,    ///< Shorter than the addresses of its family.
    cut_tlv,         ///< A TLV goes beyond the end of the header.
    checksum_form,   ///< A checksum that has not four bytes, or a second one.
    wrong_checksum,
};

/// describe_fault says what is wrong: "the header is longer than 4096 bytes".
[[nodiscard]] std::string_view describe_fault(proxy_fault fault) noexcept;

struct proxy_reading
{
    proxy_verdict verdict = proxy_verdict::need_more;
    proxy_header header{};                 ///< Filled when complete.
    proxy_fault fault = proxy_fault::none; ///< Set when malformed.
    std::uint8_t fault_tlv = 0;            ///< The type of the TLV that is cut; 0: it has none.
};

/// read_proxy_header looks for a header of version 1 or 2 at the start of the bytes that a peer has
/// sent so far. Call it again with all of them when more have come; it keeps none. It needs at most
/// 107 bytes for version 1 and limits::proxy_header_max for version 2. Where there is a checksum,
/// it must be right.
[[nodiscard]] proxy_reading read_proxy_header(std::span<std::uint8_t const> bytes);

/// tlv is one fact of a version 2 header.
struct tlv
{
    std::uint8_t type = 0;
    std::span<std::uint8_t const> value;
};

/// tlv types of the registry (section 2.2). Those from 0x21 stand inside the value of ssl.
namespace tlv_type {
inline constexpr std::uint8_t alpn = 0x01;
inline constexpr std::uint8_t authority = 0x02;
inline constexpr std::uint8_t crc32c = 0x03;
inline constexpr std::uint8_t noop = 0x04;
inline constexpr std::uint8_t unique_id = 0x05;
inline constexpr std::uint8_t ssl = 0x20;
inline constexpr std::uint8_t ssl_version = 0x21;
inline constexpr std::uint8_t ssl_cn = 0x22;
inline constexpr std::uint8_t ssl_cipher = 0x23;
inline constexpr std::uint8_t ssl_sig_alg = 0x24;
inline constexpr std::uint8_t ssl_key_alg = 0x25;
inline constexpr std::uint8_t ssl_group = 0x26;
inline constexpr std::uint8_t ssl_sig_scheme = 0x27;
inline constexpr std::uint8_t ssl_client_cert = 0x28;
inline constexpr std::uint8_t netns = 0x30;
/// hitch's, of the range for custom types: Google Cloud uses the same number for another fact.
inline constexpr std::uint8_t client_certificate_pem = 0xe0;
} // namespace tlv_type

/// ssl_value_head is the size of the first part of an ssl TLV's value: client bits and the result
/// of verifying.
inline constexpr std::size_t ssl_value_head = 5;

/// next_tlv takes the first TLV off `rest`; empty at the end, or where the bytes are no complete
/// TLV.
[[nodiscard]] std::optional<tlv> next_tlv(std::span<std::uint8_t const>& rest);

/// crc32c is the checksum of RFC 4960, appendix B.
[[nodiscard]] std::uint32_t crc32c(std::span<std::uint8_t const> bytes) noexcept;

} // namespace cleat::app
