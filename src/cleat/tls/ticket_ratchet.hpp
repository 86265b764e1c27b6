// ticket_ratchet: a state from which the ticket keys of this epoch and of later ones are derived,
// and none of earlier ones.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cleat::tls {

namespace backend {
class library_state;
}

/// ticket_ratchet is the number of an epoch, counted from 1970, and its chain key. The chain key of
/// the next epoch is derived from it by HKDF-SHA256 (RFC 5869, without salt), and so is the ticket
/// key of its epoch, with another info: from a chain key there is no way back. Servers with the
/// same state, whatever its epoch, resume each other's sessions in all epochs that they both have.
///
/// One thread uses it at a time. The destructor wipes it.
class ticket_ratchet
{
public:
    /// The state of `epoch`, with that epoch's chain key.
    ticket_ratchet(std::int64_t epoch, ticket_secret const& chain) noexcept;
    ticket_ratchet(ticket_ratchet const&) noexcept = default;
    ticket_ratchet& operator=(ticket_ratchet const&) = delete;
    ~ticket_ratchet();

    /// epoch is the number of the epoch that the chain key belongs to.
    [[nodiscard]] std::int64_t epoch() const noexcept { return epoch_; }
    /// chain is the chain key of `epoch`. It is overwritten by the next advance.
    [[nodiscard]] ticket_secret const& chain() const noexcept { return chain_; }

    /// can_advance: this epoch is at most limits::ticket_ratchet_steps_max epochs ahead.
    [[nodiscard]] bool can_advance(std::int64_t epoch) const noexcept;

    /// advance moves it on to an epoch, and overwrites the chain keys before. An epoch that is not
    /// later changes nothing. False where it cannot advance so far: then nothing changes. Also
    /// false where the TLS library fails: the ratchet is then at an epoch in between.
    bool advance(std::int64_t epoch) noexcept;

    /// is_same: both have the same keys in all epochs that both have. False also where they are too
    /// far apart. The comparison is constant in time.
    [[nodiscard]] bool is_same(ticket_ratchet const& other) const noexcept;

private:
    friend class ticket_keys;

    bool advance(backend::library_state const& library, std::int64_t epoch) noexcept;
    bool derive_key(backend::library_state const& library, std::span<std::byte> key) const noexcept;

    std::int64_t epoch_;
    ticket_secret chain_;
};

/// new_ticket_ratchet has a random chain key of this epoch. Throws std::system_error as
/// new_ticket_secret.
[[nodiscard]] std::shared_ptr<ticket_ratchet> new_ticket_ratchet(std::int64_t epoch);

/// ticket_epoch is the number of the epoch of a time, from 1970. `rotation` is at least a second.
[[nodiscard]] std::int64_t ticket_epoch(
    std::chrono::seconds rotation, std::chrono::system_clock::time_point now) noexcept;

/// oldest_ticket_epoch is the first epoch whose tickets are still opened: a ratchet has no earlier
/// one. `rotation` and `lifetime` are as in context_spec, at least a second.
[[nodiscard]] std::int64_t oldest_ticket_epoch(
    std::chrono::seconds rotation, std::chrono::seconds lifetime,
    std::chrono::system_clock::time_point now) noexcept;

} // namespace cleat::tls
