// client_table: how many connections each client has, and how many handshakes it may begin: a table
// that never grows, whatever clients do.

#pragma once

#include "limits/client_prefix.hpp"
#include "limits/sip_hash.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::app {

/// client_rules are what one worker lets a client have.
struct client_rules
{
    using clock = std::chrono::steady_clock;

    std::uint32_t connections = 0;    ///< At a time. 0: there is no limit, and none is counted.
    clock::duration token_interval{}; ///< Each brings a handshake. 0: there is no limit.
    std::uint32_t burst = 1;          ///< Handshakes at once, after a pause.
};

/// client_table belongs to its worker's thread. Only its constructor allocates.
///
/// A client's places are the seven of one set, which a keyed hash of its prefix chooses. A place
/// belongs to a client while a connection of the client is open, or a token of its bucket is
/// missing. No client drives another one out of its place, so an attacker that comes from many
/// prefixes neither loses its own record nor removes those of others. The clients of a set that is
/// full share an eighth place, as if they were one client.
class client_table
{
public:
    using time_point = client_rules::clock::time_point;

    /// `clients` is how many places there are, at least.
    client_table(std::size_t clients, sip_key const& key);

    enum class verdict : std::uint8_t
    {
        admitted,
        too_many_connections,
        too_many_handshakes,
    };

    /// place is where a connection is counted. A default-made one: nowhere.
    struct place
    {
        static constexpr std::uint32_t none = UINT32_MAX;
        std::uint32_t number = none;
    };

    struct answer
    {
        client_table::verdict verdict = client_table::verdict::admitted;
        client_table::place place{}; ///< Of an admitted client, where connections are counted.
        bool is_shared = false;      ///< The client has no place of its own.
    };

    /// admit counts a connection and takes a token, or says which rule refuses the client. A client
    /// that is refused pays no token. A client has a place for each salt.
    [[nodiscard]] answer admit(
        client_prefix const& client, client_rules const& rules, time_point now,
        std::uint64_t salt = 0) noexcept;

    /// release gives a connection back.
    void release(place where) noexcept;

    /// size is how many clients have room, without the shared places.
    [[nodiscard]] std::size_t size() const noexcept { return sets_.size() * own_places; }

    /// memory is what the table takes from the heap, in bytes.
    [[nodiscard]] std::size_t memory() const noexcept { return sets_.capacity() * sizeof(set); }

private:
    static constexpr std::size_t own_places = 7;

    struct entry
    {
        std::uint32_t tag = 0; // Of the client's hash. 0: of nobody, or shared.
        std::uint32_t connections = 0;
        time_point full_at{}; // When the last missing token will be there.

        [[nodiscard]] bool is_free(time_point now) const noexcept
        {
            return tag == 0 || (connections == 0 && full_at <= now);
        }
    };
    // Two cache lines. The last entry is the shared one.
    struct alignas(64) set
    {
        std::array<entry, own_places + 1> entries{};
    };
    static_assert(sizeof(set) == 128);

    [[nodiscard]] static std::size_t find(set& all, std::uint32_t tag, time_point now) noexcept;

    sip_key key_;
    std::vector<set> sets_;
};

} // namespace cleat::app
