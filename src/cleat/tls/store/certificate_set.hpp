// certificate_set: the certificates that serve together, found by a client's SNI. Not a public
// header.

#pragma once

#include <cleat/tls/store/name_index.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_set is filled by one thread, and read by all workers once it has its default.
class certificate_set
{
public:
    using number = name_index::number;

    /// on_replaced learns that a certificate no longer answers to a name: another one with the same
    /// kind of key, which was added later, does.
    using on_replaced = std::function<void(std::string const& name, number replaced)>;

    void add(
        number certificate, key_type type, std::span<std::string const> names,
        on_replaced const& report);

    /// set_default sets the certificate for clients whose SNI is missing or unknown. A certificate
    /// with another kind of key is a default too if it answers to all names of this one.
    void set_default(number certificate, key_type type, std::span<std::string const> names);

    /// find is the certificates for a client's SNI, the preferred one first. Empty: none.
    [[nodiscard]] std::span<candidate const> find(std::string_view name) const noexcept
    {
        return names_.find(name);
    }
    [[nodiscard]] found_name lookup(std::string_view name) const noexcept
    {
        return names_.lookup(name);
    }

    [[nodiscard]] std::span<candidate const> defaults() const noexcept { return defaults_; }
    [[nodiscard]] key_type type_of(number certificate) const noexcept
    {
        return types_[certificate];
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// examples are the first certificates of each type of key.
    [[nodiscard]] std::span<number const> examples() const noexcept { return examples_; }

    void shrink();

private:
    name_index names_;
    std::vector<candidate> defaults_;
    std::vector<key_type> types_; // By number; meaningless for the numbers that are not in the set.
    std::vector<number> examples_;
    std::size_t size_ = 0;
};

/// replaced_name_warning says that two certificates have a name in common.
[[nodiscard]] std::string replaced_name_warning(
    std::string_view earlier, std::string_view later, std::string_view name);

} // namespace cleat::tls
