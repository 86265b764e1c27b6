// engine: one TLS connection as a machine. Bytes in, bytes out; no sockets and no waiting.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/handshake_info.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/wire.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct ssl_st;

namespace cleat::tls {

class context;
struct certificate_request;
struct engine_count;
struct ja4_fingerprint;
struct session_keeper;

/// want says what the caller must do next.
enum class want : std::uint8_t
{
    nothing, ///< The call is complete, or has failed: look at step::error.
    input,   ///< All of wire::in was read. Call again with more ciphertext.
    output,  ///< wire::out has no room for the next record. Send, then call again.
    /// The certificate for this client is not loaded: see wanted_certificate. Only a server whose
    /// certificates are in a store wants it.
    certificate,
    /// The session that the client offers is another worker's: see session_id_cache::asked. Only a
    /// server whose context has such a cache wants it.
    session,
};

/// step is the result of one call. Bytes and error can both be set: data, and then the end.
struct step
{
    /// The caller's next step.
    want next = want::nothing;
    std::size_t bytes = 0; ///< Plaintext bytes that this call returned (read) or took (write).
    error_code error{};    ///< Set: this direction is over. error::closed is the clean end.
};

/// certificate_fault is why a peer's certificate was refused.
enum class certificate_fault : std::uint8_t
{
    none, ///< It was not refused.
    expired,
    not_yet_valid,
    unknown_authority, ///< Its chain leads to no authority that is trusted.
    wrong_name,        ///< It is for another name or address.
    revoked,           ///< A CRL has it, or an authority above it.
    other,             ///< See failure_info::reason.
};

/// certificate_identity says which certificate a peer has shown. Its texts are printable.
struct certificate_identity
{
    std::string subject;     ///< As RFC 2253 writes names: "CN=alice,O=Example".
    std::string fingerprint; ///< SHA-256 of the DER, in lower case.
    std::string issuer;      ///< Like the subject.
    std::string serial;      ///< In hexadecimal, two digits a byte, in lower case: "2f".
};

/// client_offers is what a client has offered where nothing of it could be agreed on, as lists with
/// commas. A number without a name is in hexadecimal, as in the registries of IANA: "0x0033".
struct client_offers
{
    std::string versions{}; ///< With error::no_shared_version: "TLSv1,TLSv1.1", or "up to TLSv1.1".
    std::string ciphers{};  ///< With error::no_shared_cipher, the TLS library's names.
    std::string groups{};   ///< With error::no_shared_cipher and error::no_shared_group.
};

/// failure_info describes a failure beyond its error_code, for a log line.
struct failure_info
{
    int peer_alert = -1; ///< The alert that the peer sent (RFC 8446, section 6), or -1.
    int own_alert = -1;  ///< The fatal alert with which this side ended the connection, or -1.
    /// The TLS library's error text; for a refused certificate that of its verification. It has no
    /// key material and no plaintext.
    std::string reason;
    certificate_fault certificate = certificate_fault::none; ///< With error::bad_certificate.
    /// The peer's own certificate, where it or one above it was refused.
    certificate_identity refused{};
    /// Of a client, in a server's handshake, whose ClientHello came in one piece.
    client_offers offers{};
    bool unusable_context = false; ///< The context is unusable, and no handshake can begin.
};

/// name_fault is the error of a client's handshake. Where it is error::bad_certificate and the
/// fault of the server's certificate is known, it is the fault's own: error::wrong_name,
/// unknown_authority, certificate_expired, certificate_not_yet_valid or certificate_revoked.
[[nodiscard]] error_code name_fault(error_code why, failure_info const& failure) noexcept;

/// certificate_facts is what a PROXY header says of the certificate that this side has sent.
struct certificate_facts
{
    std::string_view signature; ///< The algorithm it is signed with: "ecdsa-with-SHA256".
    std::string key;            ///< Its key's kind and size in bits: "RSA2048", "EC256".
};

/// fatal_alert is why this side gives up an established connection (RFC 8446, section 6.2).
enum class fatal_alert : std::uint8_t
{
    certificate_expired = 45,
    access_denied = 49,
    internal_error = 80,
};

/// engine owns one connection's TLS state.
///
/// After each call send what it wrote to wire::out before you wait, also after an error: the alert
/// is there. Every call but the constructor is on the data path and throws nothing. An engine lives
/// on one thread at a time and must not outlive its context.
class engine
{
public:
    /// engine of a new connection. The context must outlive it. Throws std::bad_alloc.
    explicit engine(context const& settings);
    engine(engine&&) noexcept;
    engine& operator=(engine&&) noexcept;
    ~engine();

    /// handshake continues the handshake. want::nothing without an error: it is done.
    step handshake(wire& w) noexcept;

    /// write_early begins a handshake that sends the pieces as 0-RTT data (RFC 8446, section 2.3),
    /// as far as the session allows and wire::out has room for whole records; step::bytes says how
    /// far. Client role, after resume, before the first handshake.
    ///
    /// want::output: the ClientHello itself had no room; call again before anything else. Otherwise
    /// call handshake next, also where nothing was taken: handshake_info::early is then
    /// not_offered. After a rejection write the bytes again from the first. An attacker who records
    /// early data can replay it (RFC 8446, section 8): send only requests that are safe to repeat.
    step write_early(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept;

    /// read decrypts records from wire::in into plaintext until wire::in has no whole record or
    /// plaintext is full. error::closed: the peer's close_notify came. error::truncated: FIN came
    /// without it.
    step read(wire& w, std::span<std::byte> plaintext) noexcept;

    /// write encrypts the pieces in order as full records, across their borders: N small pieces
    /// make one record. It stops before a record that wire::out has no room for; step::bytes says
    /// how far it came. The next write may have any bytes: unlike SSL_write, it needs no retry with
    /// the same ones.
    step write(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept;

    /// close writes a close_notify to wire::out, once. Reading goes on as before (RFC 8446, 6.1).
    step close(wire& w) noexcept;

    /// fail writes a fatal alert (RFC 8446, section 6.2) to wire::out in place of a close_notify:
    /// the peer learns that its stream is not whole. Nothing may be written after it. OpenSSL has
    /// no call for it, and writes nothing: there a FIN without close_notify says the same.
    step fail(wire& w, fatal_alert alert = fatal_alert::internal_error) noexcept;

    /// resume offers the session to the server. Client role, before the handshake;
    /// handshake_info::resumed is whether the server accepted it.
    void resume(session const& offered) noexcept;

    /// set_server names the server of this connection: `host` is verified where the context
    /// verifies, and sent as SNI unless it is an IP address. Where the context has
    /// context_spec::sessions, a session of this host and port is offered, and those that the
    /// server issues are kept there. The session is taken when the handshake begins. Client role,
    /// before the handshake, where the last call counts; the context has no server_name. False: the
    /// host is neither an IP address nor a DNS name, or there is no memory.
    [[nodiscard]] bool set_server(std::string const& host, std::uint16_t port) noexcept;

    /// fingerprint_client makes the handshake compute the client's JA4, from its first ClientHello,
    /// into `out`, which outlives the engine. Server role, before the handshake.
    void fingerprint_client(ja4_fingerprint& out) noexcept;

    /// take_sessions returns the sessions that the server has issued since the last call, oldest
    /// first. Client role with context_spec::keep_sessions; those of a connection that set_server
    /// has given a server are in the cache of the context, if it has one. In TLS 1.3 they come with
    /// the first reads.
    [[nodiscard]] std::vector<session> take_sessions() noexcept;

    /// established: the handshake is done. A later KeyUpdate does not change that.
    [[nodiscard]] bool established() const noexcept;

    /// ends_with_tickets: the last messages that this side sends for the handshake are session
    /// tickets, which the peer does not wait for. True for a server in TLS 1.3; in TLS 1.2 its last
    /// message is Finished.
    [[nodiscard]] bool ends_with_tickets() const noexcept;

    /// holds_tickets: this server's session tickets are made but not yet in wire::out. The next
    /// write or close, or send_tickets, writes them.
    [[nodiscard]] bool holds_tickets() const noexcept { return holds_tickets_; }

    /// send_tickets writes held tickets to wire::out.
    step send_tickets(wire& w) noexcept;

    /// has_received: the peer has sent at least one byte.
    [[nodiscard]] bool has_received() const noexcept;

    /// bytes_sent is how much ciphertext this side has written to wire::out.
    [[nodiscard]] std::uint64_t bytes_sent() const noexcept;

    /// has_shown_certificate: this side, a server, has sent its Certificate in this handshake,
    /// which may have failed (RFC 8446, section 4.4.2).
    [[nodiscard]] bool has_shown_certificate() const noexcept;

    /// has_plaintext: a read can return bytes without any input.
    [[nodiscard]] bool has_plaintext() const noexcept;

    /// fragment_max is the most plaintext in a record that this side writes: a client may ask a
    /// server for less than 16 KiB (RFC 6066, section 4).
    [[nodiscard]] std::size_t fragment_max() const noexcept { return fragment_max_; }

    /// write_capacity is how many bytes a write takes at least, with `room` bytes in wire::out.
    [[nodiscard]] std::size_t write_capacity(std::size_t room) const noexcept;

    /// info is what the handshake agreed on. Before its end only server_name can be set, and on a
    /// server version and cipher once it has chosen them.
    [[nodiscard]] handshake_info info() const noexcept;

    /// failure describes the last error; empty before one.
    [[nodiscard]] failure_info const& failure() const noexcept;

    /// wanted_certificate takes the certificate that want::certificate waits for, or the reason why
    /// there is none. Call handshake again afterwards. Null for a context without a store.
    [[nodiscard]] certificate_request* wanted_certificate() const noexcept
    {
        return request_.get();
    }

    /// own_certificate describes the certificate that this side has sent; empty for none.
    [[nodiscard]] certificate_facts own_certificate() const;

    /// own_certificate_origin names the certificate that a server's handshake uses:
    /// certificate_source::origin, or the file of a store. Empty for a resumed session, which uses
    /// none.
    [[nodiscard]] std::string own_certificate_origin() const;

    /// peer_identity is of the peer's certificate, in this handshake or in the one that it resumed;
    /// empty texts for none.
    [[nodiscard]] certificate_identity peer_identity() const;

    /// peer_common_name is the CN of the peer's certificate, or empty.
    [[nodiscard]] std::string peer_common_name() const;

    /// peer_trusted_pem is the peer's certificate without its chain, in PEM with OpenSSL's label
    /// "TRUSTED CERTIFICATE", as hitch sends it; or empty. Where the handshake was resumed, it is
    /// that of the session.
    [[nodiscard]] std::string peer_trusted_pem() const;

    /// native_handle is the library's SSL, for what the engine has no function for.
    [[nodiscard]] ssl_st* native_handle() const noexcept;

private:
    // Takes an engine from its context's count.
    struct uncount
    {
        void operator()(engine_count* count) const noexcept;
    };

    void free() noexcept;
    void begin_sessions() noexcept;
    step outcome_of(wire const& w, int value, std::size_t bytes) noexcept;

    // Null where the context counts no engines. The first member, because it ends last: the end of
    // the count may destroy the context.
    std::unique_ptr<engine_count, uncount> counted_;
    ssl_st* ssl_ = nullptr;
    std::unique_ptr<failure_info> failure_;        // Only a connection that failed has one.
    std::unique_ptr<session_keeper> sessions_;     // Only a client that keeps them has one.
    std::unique_ptr<certificate_request> request_; // Only where certificates are in a store.
    std::uint16_t fragment_max_ = limits::plaintext_record_max; // Of our records.
    std::uint16_t signing_scheme_ = 0; // A server's own scheme: see backend::do_handshake.
    client_ticket ticket_;             // That a server has looked up.
    bool established_ = false;
    bool close_sent_ = false;
    bool holds_tickets_ = false;
    bool early_ = false; // The ClientHello offers early data.
};

} // namespace cleat::tls
