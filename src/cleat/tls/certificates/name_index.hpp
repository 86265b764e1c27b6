// name_index: which certificates answer to a name. A table, independent of the TLS library.

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

    /// choice is the certificates that answer to one name: at most one for each kind of key.
    struct choice
    {
        number ecdsa = none; ///< On any curve.
        number rsa = none;
        number ed25519 = none;

        friend bool operator==(choice const&, choice const&) = default;
    };

    /// slot is the member of a choice for certificates with such a key.
    static number& slot(choice& c, key_type key) noexcept;

    /// set puts a certificate into its slot of a choice, and returns the one that was there, or
    /// none.
    static number set(choice& c, key_type key, number certificate) noexcept;

    /// is_usable: name is a DNS name, or one label "*" and then a DNS name. Others match nothing.
    [[nodiscard]] static bool is_usable(std::string_view name) noexcept;

    /// add lets a certificate answer to a usable name. Where another with the same kind of key
    /// answers already, add replaces and returns it; otherwise it returns none.
    number add(std::string_view name, key_type key, number certificate);

    /// find is the choice for a client's SNI, or null. The pointer is valid until the next add.
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
