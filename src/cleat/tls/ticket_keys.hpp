// ticket_keys: the keys that encrypt session tickets, a new one every epoch. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ssl_ctx_st;

namespace cleat::tls {

class context;
class ticket_keys;

namespace backend {
class library_state;

/// ticket_keys_of is the ticket_keys that on_ticket_key gave to an SSL_CTX, or null.
[[nodiscard]] ticket_keys* ticket_keys_of(ssl_ctx_st const* ctx) noexcept;
} // namespace backend

/// ticket_times has the time for which a key seals, which is an epoch, and the time for which a
/// ticket resumes.
struct ticket_times
{
    std::chrono::seconds rotation{};
    std::chrono::seconds lifetime{};
};

/// ticket_times_of a spec, with its defaults filled in.
[[nodiscard]] ticket_times ticket_times_of(context_spec const& spec) noexcept;

/// earlier_epochs is the number of past epochs in which a host, whose clock is an epoch behind this
/// host's, can have sealed a ticket that still lives.
[[nodiscard]] std::size_t earlier_epochs(ticket_times const& times) noexcept;

/// has_tickets: a server of the spec seals and opens tickets.
[[nodiscard]] bool has_tickets(context_spec const& spec) noexcept;

/// ticket_sources has the secrets or the ratchets, not both, from which ticket keys are derived.
/// The first seals.
struct ticket_sources
{
    std::vector<std::shared_ptr<ticket_secret const>> secrets{};
    std::vector<ticket_ratchet> ratchets{};

    [[nodiscard]] std::size_t size() const noexcept { return secrets.size() + ratchets.size(); }
};

/// ticket_sources_of a spec. The ratchets are copies.
[[nodiscard]] ticket_sources ticket_sources_of(context_spec const& spec);

/// ticket_keys derives a key for each epoch from each secret, so that processes and hosts that
/// share a secret and the rotation open each other's tickets without communication.
///
/// When an epoch begins, a ratchet moves on to the oldest epoch whose tickets are opened, and never
/// back. Where the clock is before that epoch, the ratchet's epoch counts as the present one. A
/// ratchet does not follow a clock that is further ahead than it can advance.
///
/// An epoch is `rotation` long and counted from 1970. Tickets are sealed with this epoch's key of
/// the first secret. They are opened with the keys of all secrets: those of the epochs in which a
/// ticket that still lives can have been sealed, of one more epoch before, and of the next one. So
/// a ticket resumes on each host whose clock differs by an epoch at most from the sealing host's. A
/// ticket of a later epoch is refused: its host's clock is wrong. The session inside a ticket has
/// its exact lifetime, which the TLS library checks.
///
/// A TLS library may refuse a session that begins after its clock, and the host that sealed a
/// ticket may be ahead. So the session of a ticket counts as made by the end of the ticket's epoch
/// (client_ticket::made_by), where that is not over yet; a ticket that replaces it is sealed in the
/// same epoch, for the same reason. Sessions then live up to an epoch longer.
///
/// Each context has its own ticket_keys: there is no lock, and no timer, since each use reads the
/// clock. The keys are derived when an epoch begins. The destructor wipes them.
class ticket_keys
{
public:
    using clock = std::chrono::system_clock::time_point (*)();

    /// key is the key of one epoch: a public name, and keys for AES-256-CBC and HMAC-SHA256 (RFC
    /// 5077, section 4).
    struct key
    {
        std::array<std::uint8_t, 16> name{};
        std::array<std::uint8_t, 32> aes{};
        std::array<std::uint8_t, 32> hmac{};
    };

    struct opened
    {
        key const* sealing_key = nullptr; ///< Null: no key has this name.
        bool renew = false;     ///< It was sealed in an epoch before, or with another secret than
                                ///< the first: send a new ticket.
        std::size_t secret = 0; ///< The secret's place.
    };

    /// library must outlive the keys. There is a secret or a ratchet at least. rotation and
    /// lifetime are at least a second.
    ticket_keys(
        backend::library_state const& library, ticket_sources sources, ticket_times const& times,
        clock now = &std::chrono::system_clock::now);
    ~ticket_keys();
    ticket_keys(ticket_keys const&) = delete;
    ticket_keys& operator=(ticket_keys const&) = delete;

    /// current is the key to seal with; null when the library cannot derive it. For a client whose
    /// ticket in this thread's ticket_watch is of the next epoch, it is the next epoch's key. Valid
    /// until the next call.
    [[nodiscard]] key const* current() noexcept;

    /// find is the key with this name, which sealed the ticket. It notes for this thread's
    /// ticket_watch whether there is such a key. Valid until the next call.
    [[nodiscard]] opened find(std::span<std::uint8_t const, 16> name) noexcept;

    /// drop_past forgets the keys, and the chain keys of ratchets, whose time is over.
    void drop_past() noexcept { static_cast<void>(refresh()); }

    /// wipe forgets the keys, as the destructor does. The next use derives them again.
    void wipe() noexcept;

    [[nodiscard]] backend::library_state const& library() const noexcept { return library_; }

private:
    bool refresh() noexcept;
    bool follow(std::int64_t epoch) noexcept;
    bool follow_ratchets(std::int64_t epoch) noexcept;
    bool derive_window(std::size_t source, std::int64_t present) noexcept;
    [[nodiscard]] std::int64_t last_second(std::int64_t epoch) const noexcept;
    bool derive(ticket_secret const& secret, std::int64_t epoch, key& derived) const noexcept;

    backend::library_state const& library_;
    ticket_sources sources_;
    std::chrono::seconds rotation_;
    clock now_;
    std::int64_t clock_epoch_ = INT64_MIN; // None yet; as is:
    std::int64_t epoch_ = INT64_MIN;       // Later than the clock's, perhaps, with ratchets.
    std::size_t epochs_;                   // The next one, this one, and those before.
    std::vector<key> keys_;                // For each source its epochs, the latest first.
};

/// has_ticket_key: the server has a key with the name that this ticket begins with (RFC 5077,
/// section 4), and would try to open the ticket. Whether the ticket is genuine is another question:
/// names are public. It costs no cryptography, but where an epoch has begun. Call it on the thread
/// of the server's engines, and not while one of them runs.
[[nodiscard]] bool has_ticket_key(
    context const& server, std::span<std::uint8_t const> ticket) noexcept;

} // namespace cleat::tls
