// backend: where TLS libraries differ. Free functions, one definition of each is linked. Not a
// public header.
//
// A folder of tls/backend defines them for its library; CMake picks the folder. What two versions
// of one library do differently is probed by compiling (cmake/probes), and the answer picks a file.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/tls/certificates/client_hello.hpp>
#include <cleat/tls/certificates/key_type.hpp>
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

class ticket_keys;

namespace backend {

/// library_state is what a worker's context needs to have for itself: an OSSL_LIB_CTX or nothing.
///
/// It must outlive everything made in it. System-wide configuration of the library is not read:
/// what a context does is in its spec.
class library_state
{
public:
    struct state;

    /// Throws std::runtime_error with the library's words when it cannot be had.
    library_state();
    library_state(library_state&&) noexcept;
    library_state& operator=(library_state&&) noexcept;
    ~library_state();

    /// new_ctx makes an SSL_CTX in this state; null when the library refuses.
    [[nodiscard]] ssl_ctx_ptr new_ctx(bool server) const;
    [[nodiscard]] x509_ptr read_certificate(BIO* pem) const; ///< The next certificate, or null.
    [[nodiscard]] evp_pkey_ptr read_private_key(
        BIO* pem) const; ///< The first key, or null. Never asks.

    /// derive fills out with HKDF-SHA256 (RFC 5869) of secret, without salt. False when the library
    /// fails.
    [[nodiscard]] bool derive(
        std::span<std::byte const> secret, std::span<std::byte const> info,
        std::span<std::byte> out) const noexcept;

    [[nodiscard]] state const& native() const noexcept { return *state_; }

private:
    std::unique_ptr<state> state_;
};

/// key_type_of is the kind of a private key, or nothing where cleat has no word for it.
[[nodiscard]] std::optional<key_type> key_type_of(EVP_PKEY* key) noexcept;

/// posix_time is an X.509 time in seconds since 1970, or nothing where it cannot be read.
[[nodiscard]] std::optional<std::int64_t> posix_time(ASN1_TIME const* at) noexcept;

/// client_hello gives the raw parts of a ClientHello before anything is chosen, while the callback
/// runs.
class client_hello
{
public:
    /// Made by the backend from what its library calls a ClientHello.
    explicit client_hello(void const* native) noexcept : native_{native} {}

    [[nodiscard]] octets cipher_suites() const noexcept;
    [[nodiscard]] octets body_of(extension number) const noexcept; ///< Empty: not sent.

private:
    void const* native_;
};

/// on_client_hello asks `choose` for the SSL_CTX to go on with before anything is negotiated. Null
/// refuses the client with unrecognized_name. `with` must outlive ctx.
using choose_ctx = SSL_CTX* (*)(void const* with, client_hello const& hello) noexcept;
struct hello_chooser
{
    choose_ctx choose = nullptr;
    void const* with = nullptr;
};
void on_client_hello(SSL_CTX* ctx, hello_chooser const* chooser);

/// on_ticket_key makes ctx seal and open tickets with keys, which must outlive ctx.
void on_ticket_key(SSL_CTX* ctx, ticket_keys* keys);

/// set_ticket_lifetime is how long clients are told to keep a ticket.
void set_ticket_lifetime(SSL_CTX* ctx, std::chrono::seconds lifetime) noexcept;

/// set_groups sets the key exchange groups; false when the library does not know one of them.
[[nodiscard]] bool set_groups(SSL_CTX* ctx, std::string const& names);
/// knows_group: the library has this group.
[[nodiscard]] bool knows_group(SSL_CTX* ctx, std::string const& name);

/// set_ciphersuites sets the suites of TLS 1.3, names separated by colons, in order of preference;
/// false when the library does not know one of them.
[[nodiscard]] bool set_ciphersuites(SSL_CTX* ctx, std::string const& names);

/// set_modes turns on what this library has for small idle connections and safe defaults.
void set_modes(SSL_CTX* ctx);
/// prepare is called once on every new SSL, before its handshake: for settings that a context
/// cannot carry, such as giving handshake memory back as soon as the connection is established.
void prepare(SSL* ssl) noexcept;

/// refused_name: the handshake failed because choose_ctx answered null.
[[nodiscard]] bool refused_name(SSL* ssl) noexcept;

/// has_peer_certificate, peer_common_name: of this or of the resumed handshake.
[[nodiscard]] bool has_peer_certificate(SSL* ssl) noexcept;
[[nodiscard]] std::string peer_common_name(SSL* ssl);

/// fragment_max is the most plaintext in a record of ours: less than limits::plaintext_record_max
/// where the client asked for less (RFC 6066, section 4). After the handshake.
[[nodiscard]] std::size_t fragment_max(SSL* ssl) noexcept;

/// group_name: see handshake_info. Empty where unknown.
[[nodiscard]] std::string_view group_name(SSL* ssl) noexcept;

/// do_handshake is SSL_do_handshake. A server's library that forgets with the handshake what it has
/// signed it with has the number of the scheme (RFC 8446, section 4.2.3) put into signed_with, in
/// the call that signs; all others leave it alone.
[[nodiscard]] int do_handshake(SSL* ssl, std::uint16_t& signed_with) noexcept;

/// keeps_tickets: a server's tickets of TLS 1.3 stay in the library until its first write, or until
/// send_tickets. Otherwise they come with the end of the handshake.
[[nodiscard]] bool keeps_tickets() noexcept;
/// send_tickets: 1, or SSL_get_error says why not.
[[nodiscard]] int send_tickets(SSL* ssl) noexcept;

/// signature_scheme: see handshake_info. `signed_with` is what do_handshake has put there, or 0.
[[nodiscard]] std::string_view signature_scheme(SSL* ssl, std::uint16_t signed_with) noexcept;

// Early data (RFC 8446, section 2.3) of a client.

/// allows_early_data: the server that gave this session said that it takes early data with it.
[[nodiscard]] bool allows_early_data(SSL_SESSION const* session) noexcept;

/// set_offered_alpn tells what a client's ctx offers, as on the wire, for may_offer_early_data; it
/// must outlive ctx.
void set_offered_alpn(SSL_CTX* ctx, std::vector<unsigned char> const* offered);

/// may_offer_early_data: the session that ssl is to resume allows early data. Before the handshake
/// only. What would make the library fail later, such as another ALPN than the session's, is a no.
[[nodiscard]] bool may_offer_early_data(SSL* ssl) noexcept;

/// begin_early_data sends a ClientHello that offers early data. 1: write_early_data can follow.
/// Otherwise SSL_get_error says why; WANT_READ means that the library does not offer it after all.
[[nodiscard]] int begin_early_data(SSL* ssl) noexcept;

/// write_early_data writes one record's plaintext, or what the session's limit leaves of it after
/// `written` bytes: 0 where that is nothing. Negative: SSL_get_error says why.
[[nodiscard]] int write_early_data(
    SSL* ssl, std::span<std::byte const> record, std::size_t written) noexcept;

/// past_rejection is called when a handshake that offers early data has returned `value`. Where
/// that says no more than that the server rejected the early data, it goes on.
[[nodiscard]] int past_rejection(SSL* ssl, int value) noexcept;

/// early_data_accepted: the server took it. After the handshake only.
[[nodiscard]] bool early_data_accepted(SSL const* ssl) noexcept;

/// is_truncation: this error of the library means FIN without close_notify.
[[nodiscard]] bool is_truncation(std::uint32_t library_error) noexcept;
/// error_of translates the library's error code; error::library where there is no closer word.
[[nodiscard]] error error_of(std::uint32_t library_error) noexcept;

} // namespace backend
} // namespace cleat::tls
