// name_index: which certificates answer to a name. A plain table; it knows nothing of TLS
// libraries.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cleat::tls {

/// name_index maps the names in certificates to the certificates, by their number.
///
/// A name is looked up exactly first, then as one label under a wildcard (RFC 6125, section 6.4.3).
/// Case does not matter, nor does a dot at the end. A lookup is at most two hash lookups and does
/// not allocate.
class name_index
{
public:
    using number = std::uint32_t;
    static constexpr number none = UINT32_MAX;

    /// choice is what answers to one name: at most one certificate of each kind of key.
    struct choice
    {
        number ecdsa = none; ///< On whatever curve.
        number rsa = none;
        number ed25519 = none;

        friend bool operator==(choice const&, choice const&) = default;
    };

    /// place_in is where a choice keeps the certificate with such a key.
    static number& place_in(choice& in, key_type key) noexcept;

    /// set puts a certificate into a choice, in the place of its key's kind. It returns what was in
    /// that place before, or none.
    static number set(choice& in, key_type key, number certificate) noexcept;

    /// is_usable: name is a DNS name, or one label "*" and then a DNS name. Others match nothing.
    [[nodiscard]] static bool is_usable(std::string_view name) noexcept;

    /// add lets a certificate answer to a usable name. The later one of two wins; the number of the
    /// one that lost is returned, or none.
    number add(std::string_view name, key_type key, number certificate);

    /// find is what answers to a client's SNI, or null. The pointer is good until the next add.
    [[nodiscard]] choice const* find(std::string_view name) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return exact_.size() + wildcards_.size(); }

private:
    struct hash
    {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept;
    };
    struct equal
    {
        using is_transparent = void;
        bool operator()(std::string_view a, std::string_view b) const noexcept;
    };
    using table = std::unordered_map<std::string, choice, hash, equal>;

    table exact_;
    table wildcards_; // The key of "*.example.com" is ".example.com".
};

} // namespace cleat::tls
