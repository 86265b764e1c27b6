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

/// want says what the caller must do next.
enum class want : std::uint8_t
{
    nothing, ///< The call did what was asked of it, or failed: look at step::error.
    input,   ///< Everything in wire::in was read. Call again with more.
    output,  ///< There is no room in wire::out for what comes next. Send, then call again.
};

/// step is how one call ended. Bytes and error can both be set: data, and then the end.
struct step
{
    want next = want::nothing;
    std::size_t bytes = 0; ///< Plaintext bytes that this call gave (read) or took (write).
    error_code error{};    ///< Set: this direction is over. error::closed is the clean end.
};

/// failure_info is what is known of a failure beyond its error_code, for a log line.
struct failure_info
{
    int peer_alert = -1; ///< The alert that the peer sent (RFC 8446, section 6), or -1.
    /// The TLS library's own words, of a certificate those of its verification; no key material, no
    /// plaintext.
    std::string reason;
};

/// certificate_facts is what a PROXY header tells of the certificate that this side showed.
struct certificate_facts
{
    std::string_view signature; ///< The algorithm it is signed with: "ecdsa-with-SHA256".
    std::string key;            ///< Its key's kind and size in bits: "RSA2048", "EC256".
};

/// engine owns one connection's TLS state.
///
/// Whatever a call put into wire::out is to be sent before the next wait, whatever the outcome: an
/// error's alert travels that way too. Every call but the constructor is on the data path and
/// throws nothing. An engine lives on one thread at a time and must not outlive its context.
class engine
{
public:
    explicit engine(context const& use);
    engine(engine&&) noexcept;
    engine& operator=(engine&&) noexcept;
    ~engine();

    /// handshake goes on with the handshake; want::nothing without an error means that it is done.
    step handshake(wire& w) noexcept;

    /// write_early begins a handshake whose ClientHello brings the pieces as 0-RTT data (RFC 8446,
    /// section 2.3), as far as the session allows and wire::out has room for whole records;
    /// step::bytes says how far. Client role, after resume, before the first handshake.
    ///
    /// want::output: not even the ClientHello had room; call again before anything else. Otherwise
    /// go on with handshake, also where nothing was taken: then handshake_info::early is
    /// not_offered. If it is rejected, the bytes have to be written again from the first. Someone
    /// who recorded early data can send it to the server once more (RFC 8446, section 8): only what
    /// may be done twice belongs here.
    step write_early(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept;

    /// read decrypts whole records from wire::in into plaintext until one of them is used up.
    /// error::closed: the peer's close_notify came. error::truncated: FIN without it.
    step read(wire& w, std::span<std::byte> plaintext) noexcept;

    /// write encrypts the pieces in order as full records, across their borders: N small pieces
    /// make one record. It stops before a record that wire::out has no room for; step::bytes says
    /// how far it came. A retry goes on from there with whatever bytes the caller likes.
    step write(wire& w, std::span<std::span<std::byte const> const> pieces) noexcept;

    /// close puts a close_notify into wire::out, once. Reading goes on as before (RFC 8446, 6.1).
    step close(wire& w) noexcept;

    /// resume offers the session to the server. Client role, before the handshake;
    /// handshake_info::resumed tells whether the server took it.
    void resume(session const& with) noexcept;

    /// take_sessions gives what the server has given since the last call, oldest first. Client role
    /// with context_spec::keep_sessions; in TLS 1.3 they come with the first reads.
    [[nodiscard]] std::vector<session> take_sessions() noexcept;

    /// established: the handshake is done, for good: a KeyUpdate on its way does not change that.
    [[nodiscard]] bool established() const noexcept;

    /// ends_with_tickets: all that this side says at the end of the handshake is session tickets,
    /// which the peer does not wait for. True for a server in TLS 1.3; in TLS 1.2 it is its
    /// Finished.
    [[nodiscard]] bool ends_with_tickets() const noexcept;

    /// holds_tickets: session tickets of this server are made, and will leave with the next write
    /// or close, or by send_tickets.
    [[nodiscard]] bool holds_tickets() const noexcept { return holds_tickets_; }

    /// send_tickets puts them into wire::out, where they are not there since the handshake's end.
    step send_tickets(wire& w) noexcept;

    /// has_heard: at least one byte of the peer's has come.
    [[nodiscard]] bool has_heard() const noexcept;

    /// has_plaintext: a read can give bytes without any input.
    [[nodiscard]] bool has_plaintext() const noexcept;

    /// fragment_max is the most plaintext in a record that this side writes: a client may ask a
    /// server for less than 16 KiB (RFC 6066, section 4).
    [[nodiscard]] std::size_t fragment_max() const noexcept { return fragment_max_; }

    /// taken_whole is how much plaintext a write takes for certain, with so much room in wire::out.
    [[nodiscard]] std::size_t taken_whole(std::size_t room) const noexcept;

    /// info is what was agreed. Before the handshake is done only server_name may be set.
    [[nodiscard]] handshake_info info() const noexcept;

    /// failure is what is known of the last error; empty before one.
    [[nodiscard]] failure_info const& failure() const noexcept;

    /// own_certificate is what is known of the certificate that this side showed; empty for none.
    [[nodiscard]] certificate_facts own_certificate() const;

    /// peer_common_name is the CN of the peer's certificate, or empty.
    [[nodiscard]] std::string peer_common_name() const;

    /// native_handle is the library's SSL, for questions that the engine does not answer.
    [[nodiscard]] ssl_st* native_handle() const noexcept;

private:
    void free() noexcept;
    step outcome_of(wire const& w, int value, std::size_t bytes) noexcept;

    ssl_st* ssl_ = nullptr;
    std::unique_ptr<failure_info> failure_;          // Only a connection that failed has one.
    std::unique_ptr<std::vector<session>> sessions_; // Only a client that keeps them has one.
    std::uint16_t fragment_max_ = limits::plaintext_record_max; // Of our records.
    std::uint16_t signed_with_ = 0; // A server's scheme, from a library that forgets it.
    bool established_ = false;
    bool close_sent_ = false;
    bool holds_tickets_ = false;
    bool early_ = false; // The ClientHello offers early data.
};

} // namespace cleat::tls
