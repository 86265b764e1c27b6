// context_spec: everything that a TLS context is made of, as a plain struct with every default
// stated.

#pragma once

#include <cleat/tls/certificate_store_spec.hpp>
#include <cleat/tls/secret_text.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct x509_store_ctx_st;

namespace cleat::tls {

class session_cache;

/// role is the side of a connection.
enum class role : std::uint8_t
{
    server,
    client
};

/// protocol_version is a version of TLS, by its number on the wire (RFC 8446, section 4.2.1).
enum class protocol_version : std::uint16_t
{
    tls_1_2 = 0x0303,
    tls_1_3 = 0x0304
};

/// peer_verification is whether a side requests and verifies its peer's certificate.
enum class peer_verification : std::uint8_t
{
    none,     ///< No certificate is requested (server), or none is verified (client).
    optional, ///< Requested; a certificate that is sent must verify. Servers only.
    required, ///< A certificate that verifies, or no connection.
};

/// client_rule is how a server verifies clients that get one of its certificates.
struct client_rule
{
    /// As context_spec::verify.
    peer_verification verify = peer_verification::none;
    std::string authorities; ///< As context_spec::verify_authorities.
    std::string origin;      ///< As context_spec::verify_origin.

    friend bool operator==(client_rule const&, client_rule const&) = default;
};

/// crl_source is a file of CRLs (RFC 5280, section 5), in PEM, or one CRL in DER.
struct crl_source
{
    /// The content of the file.
    std::string text;
    std::string origin; ///< Its source, for error messages.

    friend bool operator==(crl_source const&, crl_source const&) = default;
};

/// certificate_source is one certificate with its chain and its key, as PEM text, and what a server
/// sends with it. A context keeps no text: the last copy of a source wipes its own.
struct certificate_source
{
    secret_text chain;       ///< Leaf first, then intermediates.
    secret_text private_key; ///< May be the same text as the chain: the key is found in it.
    std::string origin;      ///< Its source, for error messages: a file's name.
    /// The certificate's OCSP response in DER (RFC 6960), for clients that ask for it. It is sent
    /// until its nextUpdate. Empty: none.
    std::string ocsp_response{};
    std::string ocsp_origin{}; ///< Its source, for error messages.
    /// Verifies the clients of this certificate otherwise than the spec does. A session resumes
    /// only under the rule that it was made under. Certificates with a name in common need the same
    /// rule: a client can choose among them by what it can verify. Unset: the spec's.
    std::optional<client_rule> clients{};
};

/// certificate_compressor is an algorithm that certificates are compressed with (RFC 8879).
struct certificate_compressor
{
    std::uint16_t algorithm = 0; ///< RFC 8879, section 7.3: 1 is zlib, 2 brotli, 3 zstd.
    /// Fills `compressed`; false: it cannot. It is called on the thread of the handshake, once for
    /// each certificate. An exception fails the handshake.
    bool (*compress)(std::span<std::byte const> message, std::vector<std::byte>& compressed) =
        nullptr;

    friend bool operator==(certificate_compressor const&, certificate_compressor const&) = default;
};

/// ticket_secret is what session ticket keys are derived from. Servers that share it resume each
/// other's sessions.
using ticket_secret = std::array<std::byte, 32>;

class ticket_ratchet;

/// ticket_counts is how many session tickets a client of TLS 1.3 gets. One of TLS 1.2 gets one with
/// a full handshake, and one with a resumed handshake where its ticket's key is an old one.
struct ticket_counts
{
    std::uint8_t full = 1;    ///< With a full handshake, from 1 to limits::tickets_max.
    std::uint8_t resumed = 1; ///< With a resumed one; 0: in TLS 1.2, too.

    friend bool operator==(ticket_counts const&, ticket_counts const&) = default;
};

/// verify_function decides on each certificate of a peer's chain, from the authority's down to the
/// peer's own. `preverified` is the TLS library's verdict; the function's result replaces it, also
/// to accept what the library refuses. An exception refuses the certificate. `store_ctx` is the
/// library's X509_STORE_CTX. The function is called on the thread of the handshake, and not for a
/// resumed session. Each context has a copy: the copies of two workers must not share mutable
/// state.
using verify_function = std::function<bool(bool preverified, x509_store_ctx_st* store_ctx)>;

/// context_spec describes a context. It is a value: every worker builds a context of its own from
/// it.
struct context_spec
{
    /// Whether this side accepts connections or makes them.
    tls::role role = tls::role::server;

    /// The oldest and the newest version that this side speaks.
    protocol_version version_min = protocol_version::tls_1_2;
    protocol_version version_max = protocol_version::tls_1_3;

    /// TLS 1.2 suites in the syntax of OpenSSL's ciphers(1). Default: forward secrecy and AEAD
    /// only.
    std::string ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
                          "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
                          "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
    /// TLS 1.3 suites, names separated by colons. Empty: the library's own order.
    std::string ciphersuites;
    /// Key exchange groups in order of preference. A name with a leading '?' is skipped where the
    /// library does not have it; any other unknown name is an error.
    std::string groups = "?X25519MLKEM768:X25519:P-256:P-384";
    /// Server role: the order of `ciphers` and `ciphersuites` decides, and not the client's.
    bool prefer_server_ciphers = false;
    /// Signature algorithms in order of preference, in OpenSSL's names:
    /// "ECDSA+SHA256:RSA-PSS+SHA256". Empty: the library's own.
    std::string signature_algorithms;

    /// Application protocols in order of preference (RFC 7301). A client that offers ALPN without
    /// any of these is refused with no_application_protocol. Empty: a client's ALPN is ignored.
    std::vector<std::string> alpn;

    /// The certificates of a server. Each answers to the names in it (SAN, or CN where there is no
    /// SAN); the LAST is the default, as in hitch. If certificates with different kinds of key have
    /// the same name, the client gets an ECDSA one if it can verify it.
    std::vector<certificate_source> certificates;
    /// A server's certificates instead, in files that are read when a client asks for one: for
    /// many. Only a net::server has the threads for that; a context of one's own with a store, as
    /// for net::stream or net::ssl, is a spec_error.
    std::optional<tls::certificate_store_spec> certificate_store{};
    /// Compress certificates for clients that can decompress them, in order of preference. OpenSSL
    /// can from 3.2 on, with the algorithms that it was built with. Empty: do not.
    std::vector<certificate_compressor> certificate_compressors;
    /// Refuse a client whose SNI no certificate answers to, rather than show it the default.
    bool refuse_unknown_names = false;

    /// Whether the peer's certificate is requested and verified. By default nothing is verified.
    peer_verification verify = peer_verification::none;
    /// PEM text of the authorities that peers' certificates must chain to. Empty, for a client that
    /// requires a certificate: the system's.
    std::string verify_authorities;
    std::string verify_origin; ///< Their source, for error messages.
    /// The system's authorities are accepted, too.
    bool verify_system_authorities = false;
    /// How many certificates may be between the peer's and an authority's. Unset: the library's
    /// limit, 100.
    std::optional<int> verify_depth;
    /// CRLs of the authorities. Where there are any, each authority of a peer's chain needs one,
    /// and a session resumes only under the same CRLs. A CRL whose nextUpdate has passed is a
    /// warning.
    std::vector<crl_source> verify_crls;
    /// A CRL whose nextUpdate has passed still counts. Otherwise no certificate of its authority
    /// verifies any more.
    bool accept_stale_crls = false;
    /// The signature schemes that a server's CertificateRequest offers, in order of preference, in
    /// the names of RFC 8446, section 4.2.3, with colons. Each version of TLS gets those that are
    /// for it. Empty: signature_algorithms, or else all that the library verifies but SHA-1.
    std::string verify_schemes;
    /// Called wherever a peer is verified. Empty: the library decides.
    tls::verify_function verify_function;
    /// Client role: the name that the server's certificate must have. It is also sent as SNI.
    /// Empty: neither.
    std::string server_name;

    /// Session tickets (RFC 5077; RFC 8446, section 4.6.1). Keys are derived from the secret
    /// (ticket_secret.hpp), new ones every rotation. Null: no session is resumed.
    std::shared_ptr<ticket_secret const> tickets;
    /// Tickets of these secrets resume, too. New tickets are never sealed with one of them.
    std::vector<std::shared_ptr<ticket_secret const>> accepted_tickets;
    /// Ratchets instead of secrets (ticket_ratchet.hpp), for epochs of ticket_rotation: the first
    /// seals, all open. `tickets` is null then. A context copies them when it is made, and moves
    /// its copies on: see context::drop_past_tickets.
    std::vector<std::shared_ptr<ticket_ratchet const>> ticket_ratchets{};
    /// OpenSSL sends one ticket at most with a resumed handshake, and no more with any handshake
    /// than a client asks for by RFC 9149.
    tls::ticket_counts ticket_counts;
    /// Server role: clients of TLS 1.2 without tickets resume their sessions by ID, once the
    /// context has a cache for them (context::keep_sessions_in). Sessions live as long as tickets
    /// do.
    bool session_ids = false;
    /// Client role: sessions that servers issue are kept for engine::take_sessions.
    bool keep_sessions = false;
    /// Client role: sessions that servers issue are kept here, and offered by each engine or stream
    /// that is given its server (set_server). Contexts of one thread can share it; it keeps their
    /// sessions apart by host, port, alpn, session_scope and verification. Two contexts with
    /// different verify_functions need different texts in session_scope. Null: none.
    std::shared_ptr<session_cache> sessions;
    /// Client role: request tickets. If false, TLS 1.2 sessions have IDs, and TLS 1.3 has none.
    bool want_tickets = true;
    /// How long a ticket key seals. Keys of one rotation more than ticket_lifetime asks for, before
    /// and after the present one, are accepted: the clocks of servers may differ by so much.
    std::chrono::seconds ticket_rotation = std::chrono::hours{12};
    /// How long a session resumes: a rotation at least, and up to seven days. A session that has
    /// resumed may do so again up to a rotation longer. Unset: ticket_rotation.
    std::optional<std::chrono::seconds> ticket_lifetime;
    /// A session resumes only under a spec with the same text (RFC 8446, section 4.6.1; without
    /// this, nginx had CVE-2025-23419). Give listeners with different rules different texts.
    std::string session_scope = "cleat";
};

} // namespace cleat::tls
