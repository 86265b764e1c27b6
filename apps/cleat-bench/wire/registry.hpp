// registry: the cipher suites, groups and signature schemes that IANA has registered for TLS, and
// those that servers took before they were registered or without.

#pragma once

#include "wire/suite_table.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::bench::wire {

/// version is a protocol version as on the wire.
enum class version : std::uint16_t
{
    ssl_3_0 = 0x0300,
    tls_1_0 = 0x0301,
    tls_1_1 = 0x0302,
    tls_1_2 = 0x0303,
    tls_1_3 = 0x0304
};

/// versions is the latest first.
inline constexpr version versions[] = {
    version::tls_1_3, version::tls_1_2, version::tls_1_1, version::tls_1_0, version::ssl_3_0};

/// name_of is "TLS 1.1".
[[nodiscard]] std::string_view name_of(version v) noexcept;

/// cipher_suites is the registry, in the order of the numbers. Signalling values are not in it.
[[nodiscard]] std::span<cipher_suite const> cipher_suites() noexcept;

/// find_suite by its number, or by either of its names; null if it is not registered.
[[nodiscard]] cipher_suite const* find_suite(std::uint16_t number) noexcept;
[[nodiscard]] cipher_suite const* find_suite(std::string_view name) noexcept;

/// suite_traits is what the name of a suite says.
struct suite_traits
{
    bool tls_1_3 = false;          ///< For TLS 1.3 only.
    bool null_encryption = false;  ///< Everything can be read.
    bool anonymous = false;        ///< The server shows no certificate and has no other key.
    bool export_grade = false;     ///< Weakened on purpose, for the laws of the 1990s.
    bool dhe = false;              ///< Ephemeral keys of a finite field.
    bool ecdhe = false;            ///< Ephemeral keys of a curve.
    bool ecdsa = false;            ///< The server's certificate has an ECDSA or EdDSA key.
    bool rsa_key_exchange = false; ///< The client encrypts the secret with the server's RSA key.
    bool forward_secret = false;
    bool cbc = false;
    bool rc4 = false;
    bool triple_des = false;
    bool block_64 = false; ///< A block cipher of 64 bits: 3DES, DES, IDEA, RC2, GOST 28147.
    bool aead = false;
    bool psk = false; ///< Also with a certificate.
};

[[nodiscard]] suite_traits traits_of(cipher_suite const& suite) noexcept;

/// named_group is one group for key exchange.
struct named_group
{
    std::uint16_t number = 0;
    std::string_view name;     ///< As cleat writes it: "P-256", "X25519MLKEM768".
    bool post_quantum = false; ///< Such groups are for TLS 1.3 only.
    bool current = false;      ///< A client of today may offer it.
};

/// named_groups is all of them, the current ones first, post-quantum before others.
[[nodiscard]] std::span<named_group const> named_groups() noexcept;

[[nodiscard]] named_group const* find_group(std::uint16_t number) noexcept;
[[nodiscard]] named_group const* find_group(std::string_view name) noexcept;

/// signature_schemes is all of them (RFC 8446, section 4.2.3; RFC 5246, section 7.4.1.4.1), the
/// sound ones first.
[[nodiscard]] std::span<std::uint16_t const> signature_schemes() noexcept;

/// fallback_scsv is RFC 7507; renegotiation_scsv is RFC 5746.
inline constexpr std::uint16_t fallback_scsv = 0x5600;
inline constexpr std::uint16_t renegotiation_scsv = 0x00ff;

} // namespace cleat::bench::wire
