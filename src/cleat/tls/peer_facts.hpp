// peer_facts: the suites and groups that a client can offer, and the contents of a server's
// certificates. For programs that examine servers, not for serving.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace cleat::tls {

class context;
class engine;
class session;

/// shown_certificate is one certificate of a server's chain. All text is printable: a certificate
/// can contain control sequences for a terminal.
struct shown_certificate
{
    std::string subject;             ///< As RFC 2253 writes names: "CN=example.org,O=Example".
    std::string issuer;              ///< Likewise.
    std::vector<std::string> names;  ///< DNS names and IP addresses of the SAN (RFC 5280, 4.2.1.6).
    std::string key;                 ///< "RSA", "ECDSA", "Ed25519", or the library's name for it.
    unsigned key_bits = 0;           ///< Of the modulus or the field: 2048, 256.
    std::string signature;           ///< Its signature algorithm: "ecdsa-with-SHA256".
    std::chrono::sys_seconds from{}; ///< notBefore; the epoch where it cannot be read.
    std::chrono::sys_seconds until{}; ///< notAfter; likewise.
    bool self_issued = false;         ///< Subject and issuer are the same.
    std::string fingerprint;          ///< SHA-256 of the DER, in lower case.
    std::vector<std::string> crls;    ///< URLs of lists that would name it as revoked (4.2.1.13).
    std::vector<std::string> responders; ///< URLs of OCSP responders (4.2.2.1).
    bool must_staple = false;            ///< Clients refuse it without an OCSP response (RFC 7633).
    bool has_timestamps = false;         ///< Of certificate transparency (RFC 6962, section 3.3).
};

/// shown_chain is the server's chain as it was sent: the leaf first. Client role, once the
/// handshake is done; empty where there is none. A resumed handshake has the chain of the original
/// one.
[[nodiscard]] std::vector<shown_certificate> shown_chain(engine const& client);

/// trust is the outcome of verifying a chain, and of looking for a name in its leaf.
struct trust
{
    bool verified = false;   ///< The chain ends at one of the authorities, and is valid today.
    std::string reason;      ///< The library's error text where it is not; else empty.
    bool incomplete = false; ///< It ends at an issuer that was neither sent nor is an authority.
    /// The leaf is issued for the name.
    bool name_matches = false;
};

/// verify_shown verifies the server's chain against the authorities in a PEM text, or the system's
/// where that is empty, whether or not the handshake verified it. `name` is a DNS name or an IP
/// address. Throws spec_error, which names the origin, for authorities that cannot be read. Reads
/// files where it uses the system's: not for the data path.
[[nodiscard]] trust verify_shown(
    engine const& client, std::string const& name, std::string const& authorities,
    std::string const& origin);

/// kept_for is the lifetime that the server has sent with a new session. Where the library does not
/// store that, it is the library's own limit, which is never longer: AWS-LC keeps a TLS 1.3 session
/// for two days at most. Zero for a session ID and for no session.
[[nodiscard]] std::chrono::seconds kept_for(session const& received) noexcept;

/// ticket_of is the ticket in a session, as it was sent; empty for a session ID and for no session.
[[nodiscard]] std::string ticket_of(session const& received);

/// copy_of is a copy that can still be offered when the original has been offered already: OpenSSL
/// offers a TLS 1.3 session only once. Empty for no session, and where the library fails.
[[nodiscard]] session copy_of(session const& original);

/// offerable_suites are the cipher suites that a client can offer in a version, in the library's
/// order. Those of TLS 1.2 include insecure ones, if the server authenticates by a certificate. The
/// names are those of context_spec::ciphers and ciphersuites.
[[nodiscard]] std::vector<std::string> offerable_suites(protocol_version version);

/// offerable_groups are the key exchange groups of cleat's own list that the library has,
/// post-quantum first. The names are those of context_spec::groups.
[[nodiscard]] std::vector<std::string> offerable_groups();

/// accept_weak makes connections of a client's context, built from this spec, accept keys, digests
/// and groups that the library refuses for their size: to examine a server, not to use it. It does
/// nothing where the library has no such limits.
void accept_weak(context const& client, context_spec const& spec) noexcept;

} // namespace cleat::tls
