// certificate_set: the certificates that serve together, found by a client's SNI. Not a public
// header.

#pragma once

#include <cleat/tls/store/candidate.hpp>
#include <cleat/tls/store/certificate_store.hpp>
#include <cleat/tls/store/number_groups.hpp>
#include <cleat/tls/store/number_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cleat::tls {

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
    tls::candidates candidates;
    name_match match = name_match::none;
};

/// certificate_set is filled by one thread, and read by all workers once it is sealed.
///
/// A name is looked up exactly first, then as one label under a wildcard (RFC 6125, section 6.4.3).
/// Case does not matter, nor does a dot at the end. A lookup does not allocate, and its cost does
/// not grow with the certificates that have the name. A name costs between 11 and 21 bytes, beside
/// its text in the store; one that several certificates have with the same type of key some more.
class certificate_set
{
public:
    using number = certificate_store::number;

    /// Called where two certificates answer to a name with the same type of key: `used` does.
    using on_shared_name = std::function<void(std::string_view name, number replaced, number used)>;

    /// The store outlives the set, and so does `below`: where this set has no certificate of a type
    /// for a name, the other one's is used. Null: there is none.
    explicit certificate_set(certificate_store const& store, certificate_set const* below = nullptr)
        : store_{&store}, below_{below}
    {
    }

    /// A copy for a copy of the store; it can be changed.
    certificate_set(
        certificate_set const& before, certificate_store const& store, certificate_set const* below)
        : certificate_set{before}
    {
        store_ = &store;
        below_ = below;
    }
    certificate_set(certificate_set&&) = delete;
    ~certificate_set() = default;

    /// add adds a certificate of the store, with the names that it has there.
    void add(number certificate, on_shared_name const& report);

    /// remove takes it out, with the names that it has in the store.
    void remove(number certificate);

    /// set_default sets the certificate for clients whose SNI is missing or unknown. Certificates
    /// with other types of key are defaults, too, if they answer to all names of this one. Call it
    /// after the last change.
    void set_default(number certificate);

    /// seal ends the changes.
    void seal();

    /// find is the certificates for a client's SNI, the preferred one first. Empty: none.
    [[nodiscard]] candidates find(std::string_view name) const noexcept
    {
        return lookup(name).candidates;
    }
    [[nodiscard]] found_name lookup(std::string_view name) const noexcept;

    [[nodiscard]] candidates const& defaults() const noexcept { return defaults_; }
    [[nodiscard]] certificate_store const& store() const noexcept { return *store_; }

    /// serves: the other set is this one, or the one below it.
    [[nodiscard]] bool serves(certificate_set const& other) const noexcept
    {
        return &other == this || &other == below_;
    }

    /// can_follow: a context for the other set serves this one's certificates, too: the default
    /// certificate is the same, and no type of key is new.
    [[nodiscard]] bool can_follow(certificate_set const& before) const;

    /// size is how many certificates there are, with those of the set below.
    [[nodiscard]] std::size_t size() const noexcept;

    /// examples are a certificate of each type of key that there is.
    [[nodiscard]] candidates examples() const;

private:
    certificate_set(certificate_set const&) = default;

    // An entry of names_ is a certificate, or a group of those with a name and a type of key.
    static constexpr number_table::number group_flag = 1U << 31U;
    [[nodiscard]] static bool is_group(number_table::number entry) noexcept
    {
        return (entry & group_flag) != 0;
    }
    [[nodiscard]] number latest_of(number_table::number entry) const noexcept
    {
        return is_group(entry) ? groups_[entry & ~group_flag].back() : entry;
    }
    [[nodiscard]] number_table::number find_entry(
        number_table::hash key, std::string_view name, key_type type) const noexcept;
    [[nodiscard]] bool has(number certificate, std::string_view name) const noexcept;
    void insert_name(std::string_view name, number certificate);
    void erase_name(std::string_view name, number certificate);
    [[nodiscard]] auto later() const noexcept
    {
        return [this](number one, number other) { return store_->is_later(one, other); };
    }

    void find_examples();
    [[nodiscard]] candidates find_key(std::string_view key) const noexcept;
    void find_own(candidates& found, std::string_view key) const noexcept;

    certificate_store const* store_;
    certificate_set const* below_;
    number_table names_;   // Entries by the hash of a name's key.
    number_groups groups_; // The certificate that is used is the last one of each.
    candidates defaults_;
    std::array<std::size_t, key_type_count> counts_{}; // Certificates, by type of key.
    std::array<number, key_type_count> examples_{};    // Of those that counts_ has.
};

/// shared_name_warning says that two certificates have a name in common.
[[nodiscard]] std::string shared_name_warning(
    std::string_view replaced, std::string_view used, std::string_view name);

} // namespace cleat::tls
