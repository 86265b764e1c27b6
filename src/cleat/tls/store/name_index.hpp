// name_index: which certificates answer to a name. A table, independent of the TLS library.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>
#include <cleat/tls/store/text_arena.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// key_kind is the kinds of keys in a server's order of preference. ECDSA first: nearly all clients
/// verify it. RSA last: it is slow, and every client can use it.
enum class key_kind : std::uint8_t
{
    ecdsa, ///< On any curve.
    ed25519,
    rsa,
};
inline constexpr std::size_t key_kind_count = 3;

[[nodiscard]] key_kind kind_of(key_type key) noexcept;

/// candidate is a certificate's number with the kind of its key. Candidates compare in the server's
/// order of preference.
class candidate
{
public:
    static constexpr std::uint32_t number_max = UINT32_MAX >> 2U;

    constexpr candidate(key_kind kind, std::uint32_t number) noexcept
        : bits_{static_cast<std::uint32_t>(kind) << 30U | number}
    {
    }

    [[nodiscard]] constexpr std::uint32_t number() const noexcept { return bits_ & number_max; }
    [[nodiscard]] constexpr key_kind kind() const noexcept
    {
        return static_cast<key_kind>(bits_ >> 30U);
    }

    friend constexpr auto operator<=>(candidate, candidate) noexcept = default;

private:
    std::uint32_t bits_;
};

/// name_match is how a name was found.
enum class name_match : std::uint8_t
{
    none,
    exact,
    wildcard,
};

/// found_name is the certificates for a name, and how they were found.
struct found_name
{
    std::span<candidate const> candidates;
    name_match match = name_match::none;
};

/// name_index maps the names in certificates to the certificates, by their number.
///
/// A name is looked up exactly first, then as one label under a wildcard (RFC 6125, section 6.4.3).
/// Case does not matter, nor does a dot at the end. A lookup is at most two hash lookups and does
/// not allocate. A name costs its text and between 12 and 23 bytes.
class name_index
{
public:
    using number = std::uint32_t;
    static constexpr number none = UINT32_MAX;

    /// is_usable: name is a DNS name, or one label "*" and then a DNS name. Others match nothing.
    [[nodiscard]] static bool is_usable(std::string_view name) noexcept;

    /// add lets a certificate, with a number up to candidate::number_max, answer to a usable name.
    /// Where another with the same kind of key answers already, add replaces and returns it;
    /// otherwise it returns none.
    number add(std::string_view name, key_type key, number certificate);

    /// find is the certificates for a client's SNI, at most one for each kind of key, the preferred
    /// one first; empty where there is none. Valid until the next add.
    [[nodiscard]] std::span<candidate const> find(std::string_view name) const noexcept
    {
        return lookup(name).candidates;
    }
    [[nodiscard]] found_name lookup(std::string_view name) const noexcept;

    /// size is how many names there are.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// shrink frees what only a later add would need.
    void shrink();

private:
    struct slot
    {
        text_arena::offset name = none; // none: the slot is free.
        // A certificate; or, where several answer, `several` with their place in lists_.
        candidate first{several, 0};
    };
    static constexpr key_kind several{key_kind_count};

    [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;
    [[nodiscard]] std::span<candidate const> candidates_of(slot const& s) const noexcept;
    [[nodiscard]] std::span<candidate const> find_key(std::string_view key) const noexcept;
    void grow();
    void add_to_list(slot& s, candidate added);

    text_arena texts_;        // In lower case; that of "*.example.com" is ".example.com".
    std::vector<slot> slots_; // A power of two: open addressing, at most three quarters full.
    // Lists one after the other. Before each list is a candidate that only holds the list's length,
    // as its number.
    std::vector<candidate> lists_;
    std::size_t size_ = 0;
};

} // namespace cleat::tls
