// ticket_keys: the keys that encrypt session tickets, a new one every epoch. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>

namespace cleat::tls {

namespace backend {
class library_state;
}

/// ticket_keys derives a key for each epoch from one secret, so that processes and hosts that share
/// the secret and the rotation open each other's tickets without communication.
///
/// An epoch is `rotation` long and counted from 1970. Tickets are sealed with this epoch's key, and
/// opened with it or with the one before. So a ticket is valid for at least one rotation and less
/// than two. Older keys are not in memory. Each context has its own ticket_keys: there is no lock,
/// and no timer, since each use reads the clock. The destructor wipes all secrets.
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
        bool renew = false;               ///< It was sealed in the epoch before: send a new ticket.
    };

    /// library must outlive the keys. rotation is at least a second.
    ticket_keys(
        backend::library_state const& library, ticket_secret const& secret,
        std::chrono::seconds rotation, clock now = &std::chrono::system_clock::now);
    ~ticket_keys();
    ticket_keys(ticket_keys const&) = delete;
    ticket_keys& operator=(ticket_keys const&) = delete;

    /// current is the key to seal with; null when the library cannot derive it. Valid until the
    /// next call.
    [[nodiscard]] key const* current() noexcept;

    /// find is the key that a ticket with this name was sealed with. Valid until the next call.
    [[nodiscard]] opened find(std::span<std::uint8_t const, 16> name) noexcept;

    [[nodiscard]] backend::library_state const& library() const noexcept { return library_; }

private:
    bool refresh() noexcept;
    bool derive(std::int64_t epoch, key& derived) const noexcept;

    backend::library_state const& library_;
    ticket_secret secret_;
    std::chrono::seconds rotation_;
    clock now_;
    std::int64_t epoch_ = INT64_MIN; // None yet.
    key current_;
    key previous_;
};

} // namespace cleat::tls
