// channel: a TLS engine on a non-blocking socket, and the few bytes that wait between the two.

#pragma once

#include <cleat/core/byte_queue.hpp>
#include <cleat/core/error.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/tls/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::net {

/// wait is the event that an unfinished call waits for.
enum class wait : std::uint8_t
{
    none,     ///< The call is finished: done, or failed with progress::error.
    readable, ///< Call again when the socket has something to read.
    writable, ///< Call again when the socket takes bytes.
    /// For a handshake: see tls::want::certificate. Call again when engine().wanted_certificate()
    /// has the certificate.
    certificate,
    /// For a handshake: see tls::want::session. Call again when the cache has the answer.
    session,
};

/// progress is the outcome of one call. Bytes can come with an error: data, and then the end.
struct progress
{
    /// The event to wait for before the next call.
    wait next = wait::none;
    std::size_t bytes = 0;   ///< Plaintext given (read) or taken (write).
    std::size_t on_wire = 0; ///< Ciphertext received (read) or handed to the socket (write).
    error_code error{};      ///< error::closed and error::truncated are ends; others are failures.
};

/// transport is the socket that a channel receives from and sends to: a bare descriptor, or the
/// readiness entry of a worker's socket. The channel updates the entry after each recv and send,
/// because its caller cannot know which calls reach the socket: some are served from queues.
struct transport
{
    /// The socket as a descriptor, or as the entry of a worker's socket.
    transport(int descriptor) noexcept : fd{descriptor} {} // NOLINT: most callers have just that
    transport(readiness::entry& entry) noexcept
        : fd{entry.fd()}, events{&entry} {} // NOLINT: as above

    /// The descriptor, and its entry; null: it has none.
    int fd;
    readiness::entry* events = nullptr;
};

/// channel makes the system calls of a TLS connection: one recv for many records, one send for many
/// records. A call never blocks: where the socket is drained or full it says what to wait for. One
/// thread at a time.
///
/// Besides its engine it owns memory only for ciphertext received before TLS asked for it, and for
/// records that the socket did not take. Both are bounded by limits::unsent_max.
class channel
{
public:
    /// piece is one of the buffers that a write takes.
    using piece = std::span<std::byte const>;

    /// channel with an engine of this context, which outlives it. Throws std::bad_alloc.
    explicit channel(tls::context const& context);

    /// last_flight says when this side's last flight of the handshake is sent. A client that writes
    /// right after the handshake saves a packet and a system call by sending its Finished with the
    /// bytes written.
    enum class last_flight : std::uint8_t
    {
        at_once,
        with_first_write
    };

    /// handshake goes on with the handshake as far as the socket allows. `ended`: see read. A
    /// server's session ticket is held back, and sent with the first bytes written, or by
    /// flush_held.
    progress handshake(
        transport socket, bool ended = false,
        last_flight departure = last_flight::at_once) noexcept;

    /// write_early begins a client's handshake with the pieces as 0-RTT data, as far as its session
    /// allows (engine::write_early, RFC 8446, section 2.3); progress::bytes counts the bytes taken.
    /// Call it before the first handshake, and handshake next, even if it took none.
    progress write_early(transport socket, std::span<piece const> pieces) noexcept;

    /// feed takes bytes that the caller has read from the socket already. The handshake that
    /// follows reads them first. False, and nothing is taken: they are more than
    /// limits::unsent_max, or there is no memory.
    [[nodiscard]] bool feed(std::span<std::byte const> read_before) noexcept;

    /// feed for a caller that has drained the socket. It takes the queue over.
    void feed(byte_queue&& read_before) noexcept;

    /// read receives at most `turn` bytes of ciphertext and decrypts whole records into
    /// `plaintext`. wait::none without an error means that there may be more: call again before you
    /// wait. `ended`: the peer's FIN has come, and follows the bytes that the socket still holds.
    progress read(
        transport socket, std::span<std::byte> plaintext, std::size_t turn,
        bool ended = false) noexcept;

    /// after_write says what a write sends after its bytes, in the same send.
    enum class after_write : std::uint8_t
    {
        nothing,
        close_notify,
        // See tls::engine::fail. The numbers are those of tls::fatal_alert.
        certificate_expired = 45,
        access_denied = 49,
        internal_error = 80,
    };

    /// write encrypts the pieces in order and sends them. Bytes that it took (progress::bytes) are
    /// encrypted even if the socket was full: to send them, call flush when it is writable, and do
    /// not write them again. While unsent() it takes nothing.
    progress write(
        transport socket, std::span<piece const> pieces,
        after_write addition = after_write::nothing) noexcept;

    /// write_max is the number of bytes that one write takes at least while nothing is unsent: a
    /// turn, or less for a client that asked for small records, because of their overhead.
    [[nodiscard]] std::size_t write_max() const noexcept;

    /// flush sends the records that the socket did not take.
    progress flush(transport socket) noexcept;

    /// holds_records: records are held back, to be sent with the first bytes written.
    [[nodiscard]] bool holds_records() const noexcept
    {
        return !blocked_ && (!out_.empty() || engine_.holds_tickets());
    }

    /// flush_held sends the records that are held back. Bytes that the socket does not take are
    /// held back again. The next read reports a broken socket.
    void flush_held(transport socket) noexcept;

    /// close sends close_notify, once; reading goes on as before.
    progress close(transport socket) noexcept;

    /// fail sends a fatal alert instead of close_notify, where the TLS library can.
    progress fail(
        transport socket, tls::fatal_alert alert = tls::fatal_alert::internal_error) noexcept;

    /// unsent: the socket was full; call flush when it is writable.
    [[nodiscard]] bool unsent() const noexcept { return blocked_; }

    /// unread: a read may give bytes, or the end, although no new event comes: call it before you
    /// wait.
    [[nodiscard]] bool unread() const noexcept
    {
        return !in_.empty() || !drained_ || in_ended_ || engine_.has_plaintext();
    }

    /// engine is the TLS state. Its own handshake, read and write would lose bytes.
    [[nodiscard]] tls::engine const& engine() const noexcept { return engine_; }
    [[nodiscard]] tls::engine& engine() noexcept { return engine_; }

private:
    struct received;

    received receive(transport socket, std::size_t size, bool ended) noexcept;
    [[nodiscard]] progress wait_for_flight(transport socket, bool is_part) const noexcept;
    [[nodiscard]] bool keep_unread(received const& got, std::span<std::byte const> rest) noexcept;
    [[nodiscard]] std::size_t take_held(std::span<std::byte> block) noexcept;
    [[nodiscard]] error_code hold(std::span<std::byte const> sealed) noexcept;
    [[nodiscard]] error_code deliver(transport socket, std::span<std::byte const> sealed) noexcept;

    tls::engine engine_;
    byte_queue in_;  // Ciphertext that TLS has not asked for yet.
    byte_queue out_; // Records that the socket did not take, or that are held back.
    bool in_ended_ = false;
    bool drained_ = false; // The socket had no more at the last recv.
    bool is_server_;
    bool wants_input_;
    bool silent_; // True: this is a client that has sent nothing yet, so a recv would find nothing.
    bool blocked_ = false; // The socket was full at the last send.
};

} // namespace cleat::net
