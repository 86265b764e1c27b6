// peer_facts: what a client of the linked TLS library can ask a server for, and what the
// certificates say that the server shows. For programs that look at servers, not for serving.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace cleat::tls {

class context;
class engine;
class session;

/// shown_certificate is one certificate as its server shows it. All text is printable: what a
/// certificate says is its owner's word, and could be meant for a terminal.
struct shown_certificate
{
    std::string subject;             ///< As RFC 2253 writes names: "CN=example.org,O=Example".
    std::string issuer;              ///< Likewise.
    std::vector<std::string> names;  ///< DNS names and IP addresses of the SAN (RFC 5280, 4.2.1.6).
    std::string key;                 ///< "RSA", "ECDSA", "Ed25519", or the library's name for it.
    unsigned key_bits = 0;           ///< Of the modulus or the field: 2048, 256.
    std::string signature;           ///< What it is signed with: "ecdsa-with-SHA256".
    std::chrono::sys_seconds from{}; ///< Valid from; the epoch where it cannot be read.
    std::chrono::sys_seconds until{}; ///< Valid until; likewise.
    bool self_issued = false;         ///< Subject and issuer are the same.
    std::string fingerprint;          ///< SHA-256 of the DER, in lower case.
};

/// shown_chain is what the server has sent, in its order: the leaf first. Client role, once the
/// handshake is done; empty where there is none. A resumed handshake gives that of the first one.
[[nodiscard]] std::vector<shown_certificate> shown_chain(engine const& of);

/// trust is the outcome of verifying a chain, and of looking for a name in its leaf.
struct trust
{
    bool verified = false;   ///< The chain ends at one of the authorities, and is valid today.
    std::string reason;      ///< In the library's words, why not; empty where it is.
    bool incomplete = false; ///< It ends at an issuer that was neither sent nor is an authority.
    bool name_matches = false;
};

/// verify_shown verifies what the server has sent, whether or not its context did, against the
/// authorities of a PEM text, or the system's where that is empty; `name` is a DNS name or an IP
/// address. Throws spec_error, which names the origin, for authorities that cannot be read. Reads
/// files where it uses the system's: not for the data path.
[[nodiscard]] trust verify_shown(
    engine const& of, std::string const& name, std::string const& authorities,
    std::string const& origin);

/// kept_for is how long the server says that a new session is good for. Where the library does not
/// keep the server's word, it is how long the library keeps the session, which is never longer:
/// AWS-LC keeps one of TLS 1.3 for two days at most. Zero for a session ID and for no session.
[[nodiscard]] std::chrono::seconds kept_for(session const& with) noexcept;

/// copy_of is a session that can be offered where this one has been: OpenSSL offers one of TLS 1.3
/// once only, whatever the server would say. Empty for none, and where the library fails.
[[nodiscard]] session copy_of(session const& original);

/// offerable_suites are those that a client can offer in a version, in the library's order; in TLS
/// 1.2 with those that nobody should use, as long as the server shows a certificate. The names are
/// those that context_spec::ciphers and ciphersuites take.
[[nodiscard]] std::vector<std::string> offerable_suites(protocol_version in);

/// offerable_groups are those of cleat's own list of key exchange groups that the library has:
/// post-quantum first. The names are those that context_spec::groups takes.
[[nodiscard]] std::vector<std::string> offerable_groups();

/// accept_weak lets connections of a client's context, built from this spec, meet keys, digests and
/// groups that the library would refuse for their size: to see them, not to use them. Nothing
/// happens where the library has no such limits.
void accept_weak(context const& use, context_spec const& spec) noexcept;

} // namespace cleat::tls
