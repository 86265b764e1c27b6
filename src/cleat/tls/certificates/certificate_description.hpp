// certificate_description: what a report says about a certificate, as plain values. Not a public
// header.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

namespace backend {
class library_state;
}
struct certificate;
struct certificate_text;

/// chain_link is a certificate above the server's own.
struct chain_link
{
    std::string name;             ///< The subject's CN, or its organization.
    std::int64_t valid_from = 0;  ///< Seconds since 1970, like valid_until.
    std::int64_t valid_until = 0; ///< 0: not readable.
};

/// key_family is the kind of a key, by which its size in bits is judged.
enum class key_family : std::uint8_t
{
    rsa,
    elliptic_curve,
    other,
};

struct certificate_description
{
    std::string subject;                     ///< The CN, or the organization.
    std::string issuer;                      ///< The same.
    std::vector<std::string> names;          ///< Host names that it answers to.
    std::vector<std::string> unusable_names; ///< DNS names in it that no client asks for.
    bool has_san = false;
    std::string key; ///< "ECDSA P-256"
    key_family family = key_family::other;
    unsigned key_bits = 0;
    std::string signature; ///< The name of the algorithm: "ecdsa-with-SHA256".
    bool is_sha1 = false;  ///< The signature is made over a SHA-1 hash.
    std::int64_t valid_from = 0;
    std::int64_t valid_until = 0;
    std::chrono::seconds lifetime{}; ///< See lifetime_of.
    bool key_matches = true;         ///< False: the file's private key is another certificate's.
    std::vector<chain_link> chain;
    /// The file has no certificate with the issuer's name, and the certificate is not self-signed.
    bool lacks_issuer = false;
    /// Places in the file, from 1, of certificates that did not issue the one before them.
    std::vector<std::size_t> misplaced;
};

/// key_name is "ECDSA P-256".
[[nodiscard]] std::string_view key_name(key_type type) noexcept;

/// describe_certificate describes a certificate that can be served.
[[nodiscard]] certificate_description describe_certificate(certificate const& read);

/// describe_certificate describes that of a text, also where read_certificate refuses its key.
/// Nothing: there is no certificate, or one of the file cannot be decoded.
[[nodiscard]] std::optional<certificate_description> describe_certificate(
    backend::library_state const& library, certificate_text const& text);

} // namespace cleat::tls
