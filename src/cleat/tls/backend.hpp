// backend: where TLS libraries differ. Free functions, one definition of each is linked. Not a
// public header.
//
// A folder of tls/backend defines them for its library; CMake chooses the folder. Where versions of
// one library differ, a probe that is compiled (cmake/probes) chooses a file.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/certificates/client_hello.hpp>
#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

class compressed_certificates;
struct ocsp_response;
class ticket_keys;

namespace backend {

/// library_state is the state of the library that each worker's context owns: an OSSL_LIB_CTX, or
/// nothing.
///
/// It must outlive everything made in it. The library's system-wide configuration is not read: a
/// context's settings are those of its spec.
class library_state
{
public:
    struct state;

    /// Throws std::runtime_error with the library's error text when it cannot be made.
    library_state();
    library_state(library_state&&) noexcept;
    library_state& operator=(library_state&&) noexcept;
    ~library_state();

    /// new_ctx makes an SSL_CTX in this state; null when the library refuses.
    [[nodiscard]] ssl_ctx_ptr new_ctx(bool server) const;
    [[nodiscard]] x509_ptr read_certificate(BIO* pem) const; ///< The next certificate, or null.
    [[nodiscard]] evp_pkey_ptr read_private_key(
        BIO* pem) const; ///< The first key, or null. Never asks for a passphrase.

    /// derive fills out with HKDF-SHA256 (RFC 5869) of secret, without salt. False when the library
    /// fails.
    [[nodiscard]] bool derive(
        std::span<std::byte const> secret, std::span<std::byte const> info,
        std::span<std::byte> out) const noexcept;

    /// leave_thread frees what the library keeps of this state for the calling thread. A thread
    /// that lasts longer than the state calls it after each use.
    void leave_thread() const noexcept;

    [[nodiscard]] state const& native() const noexcept { return *state_; }

private:
    std::unique_ptr<state> state_;
};

/// sha256 hashes bytes, without a lock or an allocation.
void sha256(octets bytes, std::span<std::uint8_t, 32> digest) noexcept;

/// key_type_of is the kind of a private key, or nothing where it is no key_type.
[[nodiscard]] std::optional<key_type> key_type_of(EVP_PKEY* key) noexcept;

/// posix_time is an X.509 time in seconds since 1970, or nothing where it cannot be read.
[[nodiscard]] std::optional<std::int64_t> posix_time(ASN1_TIME const* asn1_time) noexcept;

/// client_hello gives the raw parts of a ClientHello before anything is chosen. It is valid during
/// the callback only.
class client_hello
{
public:
    /// native is the library's ClientHello: the backend makes client_hello.
    explicit client_hello(void const* native) noexcept : native_{native} {}

    [[nodiscard]] octets cipher_suites() const noexcept;
    [[nodiscard]] octets body_of(extension number) const noexcept; ///< Empty: not sent.

private:
    void const* native_;
};

/// hello_verdict is how the handshake goes on after a ClientHello.
enum class hello_verdict
{
    go_on,
    wait,        ///< Suspend the handshake: see is_wait_for_certificate.
    refuse_name, ///< The alert unrecognized_name.
    fail,        ///< The alert internal_error.
};
/// judge_hello may give ssl another SSL_CTX, or another certificate.
using judge_hello =
    hello_verdict (*)(void const* argument, SSL* ssl, client_hello const& hello) noexcept;
struct hello_judge
{
    judge_hello judge = nullptr;
    void const* argument = nullptr;
};
/// on_client_hello makes connections of ctx call the judge before anything is negotiated, and again
/// when a handshake that has waited goes on. The judge and its argument must outlive ctx. Null, for
/// OpenSSL alone: no judge, only the backend's own work in that callback.
void on_client_hello(SSL_CTX* ctx, hello_judge const* judge);

/// is_wait_for_certificate: this value of SSL_get_error means that hello_verdict::wait suspended
/// the handshake.
[[nodiscard]] bool is_wait_for_certificate(int ssl_error) noexcept;

/// signature_scheme_name is a scheme of RFC 8446, section 4.2.3.
struct signature_scheme_name
{
    char const* name = "";
    std::uint16_t number = 0;
};

/// version_schemes are the schemes that a server asks its clients for, the preferred one first.
struct version_schemes
{
    std::vector<signature_scheme_name> tls_1_2{};
    std::vector<signature_scheme_name> tls_1_3{};
};

/// can_verify: the library verifies a client's signature by this scheme. Scratch is a server's.
[[nodiscard]] bool can_verify(SSL_CTX* scratch, signature_scheme_name const& scheme) noexcept;

/// ask_for_schemes puts these schemes into the CertificateRequest of a server's ctx. They must
/// outlive ctx. False: the library refuses them.
[[nodiscard]] bool ask_for_schemes(SSL_CTX* ctx, version_schemes const* schemes);

/// staple makes ctx send the response to clients that ask for one, while it is fresh. It must
/// outlive ctx, and every SSL that has had ctx.
void staple(SSL_CTX* ctx, ocsp_response const* response);

/// staple makes one connection, before its certificate is sent, send a copy of the response if the
/// client asks for one. Its SSL_CTX was given to allow_staples. Without memory it sends none.
void staple(SSL* ssl, ocsp_response const& response) noexcept;
void allow_staples(SSL_CTX* ctx);

/// can_compress: the library sends certificates that are compressed with this algorithm (RFC 8879,
/// section 7.3).
[[nodiscard]] bool can_compress(std::uint16_t algorithm) noexcept;

/// compress_certificates makes ctx compress its certificates for clients that can decompress them
/// (RFC 8879), with the algorithms of the cache, which must outlive ctx. False: the library cannot.
[[nodiscard]] bool compress_certificates(SSL_CTX* ctx, compressed_certificates* cache);

/// on_ticket_key makes ctx seal and open tickets with keys, which must outlive ctx.
void on_ticket_key(SSL_CTX* ctx, ticket_keys* keys);

/// resumed_tickets_max is the number of tickets that the library can send with a resumed handshake.
[[nodiscard]] unsigned resumed_tickets_max() noexcept;

/// ticket_plan has the numbers of tickets of connections that began on the SSL_CTX `first`.
struct ticket_plan
{
    ticket_counts counts{};
    SSL_CTX* first = nullptr;
};
/// plan_tickets makes connections of ctx follow a plan, which must outlive ctx. False: the library
/// cannot.
[[nodiscard]] bool plan_tickets(SSL_CTX* ctx, ticket_plan const* plan);

/// on_session_id makes ctx put the worker's number into the IDs of sessions, and look for sessions
/// by ID: see keep_by_id, which calls it.
void on_session_id(SSL_CTX* ctx);

/// is_wait_for_session: this value of SSL_get_error means that the handshake waits for a session of
/// another worker's, which session_id_cache::asked names.
[[nodiscard]] bool is_wait_for_session(SSL* ssl, int ssl_error) noexcept;

/// set_ticket_lifetime sets how long sessions resume, and the lifetime that tickets name to clients
/// (RFC 8446, section 4.6.1).
void set_ticket_lifetime(SSL_CTX* ctx, std::chrono::seconds lifetime) noexcept;

/// set_groups sets the key exchange groups; false when the library does not know one of them.
[[nodiscard]] bool set_groups(SSL_CTX* ctx, std::string const& names);
/// has_group: the library has this group.
[[nodiscard]] bool has_group(SSL_CTX* ctx, std::string const& name);

/// set_ciphersuites sets the suites of TLS 1.3, names separated by colons, in order of preference;
/// false when the library does not know one of them.
[[nodiscard]] bool set_ciphersuites(SSL_CTX* ctx, std::string const& names);

/// set_modes sets the library's modes for small idle connections and safe defaults.
void set_modes(SSL_CTX* ctx);
/// prepare is called once on every new SSL, before its handshake. It makes settings that an SSL_CTX
/// does not have, such as freeing the handshake's memory as soon as the connection is established.
void prepare(SSL* ssl) noexcept;

/// restore_message_callback gives ssl the message callback that new connections have: the
/// backend's own, or none.
void restore_message_callback(SSL* ssl) noexcept;

/// refused_name: the handshake failed by hello_verdict::refuse_name.
[[nodiscard]] bool refused_name(SSL* ssl) noexcept;

/// has_peer_certificate, peer_certificate (null: none), peer_common_name, peer_trusted_pem: the
/// peer's certificate in this handshake, or in the one that it resumed.
[[nodiscard]] bool has_peer_certificate(SSL* ssl) noexcept;
[[nodiscard]] x509_ptr peer_certificate(SSL* ssl) noexcept;
[[nodiscard]] std::string peer_common_name(SSL* ssl);
[[nodiscard]] std::string peer_trusted_pem(SSL* ssl);

/// fragment_max is the most plaintext in a record that this side sends:
/// limits::plaintext_record_max, or what the client asked for (RFC 6066, section 4). Call it after
/// the handshake.
[[nodiscard]] std::size_t fragment_max(SSL* ssl) noexcept;

/// group_name: see handshake_info. Empty where unknown.
[[nodiscard]] std::string_view group_name(SSL* ssl) noexcept;

/// suite_name is the name of the cipher suite with this number (RFC 8446, appendix B.4), as
/// handshake_info has it. Empty where the library does not have the suite.
[[nodiscard]] std::string_view suite_name(SSL* ssl, std::uint16_t number) noexcept;

/// do_handshake is SSL_do_handshake.
///
/// AWS-LC and BoringSSL forget after a handshake which signature scheme their server has used. With
/// these, the call in which a server signs also stores the scheme's number (RFC 8446,
/// section 4.2.3) in signing_scheme. OpenSSL does not write it; for a client it has no meaning.
[[nodiscard]] int do_handshake(SSL* ssl, std::uint16_t& signing_scheme) noexcept;

/// send_fatal_alert writes a fatal alert (RFC 8446, section 6.2). Returns 1, or a value for
/// SSL_get_error. OpenSSL has no call for it: it writes nothing, and returns 1.
[[nodiscard]] int send_fatal_alert(SSL* ssl, std::uint8_t alert) noexcept;

/// keeps_tickets: the library of a TLS 1.3 server keeps the tickets until its first write, or until
/// send_tickets. Otherwise it writes them at the end of the handshake.
[[nodiscard]] bool keeps_tickets() noexcept;
/// send_tickets writes the kept tickets. Returns 1, or a value for SSL_get_error.
[[nodiscard]] int send_tickets(SSL* ssl) noexcept;

/// signature_scheme: see handshake_info. signing_scheme is what do_handshake has stored, or 0.
[[nodiscard]] std::string_view signature_scheme(SSL* ssl, std::uint16_t signing_scheme) noexcept;

// Early data of a client (RFC 8446, section 2.3).

/// allows_early_data: the server that issued this session accepts early data with it.
[[nodiscard]] bool allows_early_data(SSL_SESSION const* session) noexcept;

/// set_offered_alpn stores the ALPN list that a client's ctx offers, in wire format, for
/// may_offer_early_data. The list must outlive ctx.
void set_offered_alpn(SSL_CTX* ctx, std::vector<unsigned char> const* offered);

/// may_offer_early_data: the session that ssl will resume allows early data, and nothing else
/// prevents it, such as another ALPN than the session's. Call it before the handshake.
[[nodiscard]] bool may_offer_early_data(SSL* ssl) noexcept;

/// begin_early_data writes a ClientHello that offers early data. Returns 1 where write_early_data
/// can follow, and else a value for SSL_get_error. WANT_READ: the library does not offer early
/// data.
[[nodiscard]] int begin_early_data(SSL* ssl) noexcept;

/// write_early_data writes one record's plaintext, as much of it as the session's limit allows
/// after `written` bytes. Returns the bytes taken, 0 at the limit, or a negative value for
/// SSL_get_error.
[[nodiscard]] int write_early_data(
    SSL* ssl, std::span<std::byte const> record, std::size_t written) noexcept;

/// continue_after_rejection is for a handshake that offered early data and has returned `value`.
/// Where the value only reports that the server rejected the early data, it calls SSL_do_handshake
/// again and returns that call's value; otherwise it returns `value`.
[[nodiscard]] int continue_after_rejection(SSL* ssl, int value) noexcept;

/// early_data_accepted: the server accepted it. Call it after the handshake.
[[nodiscard]] bool early_data_accepted(SSL const* ssl) noexcept;

/// is_truncation: this error of the library means that FIN came without close_notify.
[[nodiscard]] bool is_truncation(std::uint32_t library_error) noexcept;
/// error_of translates the library's error code; error::library where no other error fits.
[[nodiscard]] error error_of(std::uint32_t library_error) noexcept;

} // namespace backend
} // namespace cleat::tls
