// candidate: a certificate that can be served for a name. Not a public header.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace cleat::tls {

struct candidate
{
    std::uint32_t number = 0; ///< In the store.
    key_type type = key_type::rsa;

    friend constexpr bool operator==(candidate const&, candidate const&) = default;
};

/// candidates are the certificates for a name: at most one for each type of key, in the server's
/// order of preference, which is that of key_type.
class candidates
{
public:
    /// put adds a candidate, or replaces the one of its type.
    constexpr void put(candidate added) noexcept
    {
        auto const end = all_.begin() + size_;
        auto const place = std::find_if(
            all_.begin(), end, [&](candidate const& each) { return each.type >= added.type; });
        if (place == end || place->type != added.type) {
            std::move_backward(place, end, end + 1);
            ++size_;
        }
        *place = added;
    }

    /// find is the candidate of a type, or null.
    [[nodiscard]] constexpr candidate const* find(key_type type) const noexcept
    {
        for (candidate const& each : *this)
            if (each.type == type)
                return &each;
        return nullptr;
    }

    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr candidate const& front() const noexcept { return all_.front(); }
    [[nodiscard]] constexpr candidate const* begin() const noexcept { return all_.data(); }
    [[nodiscard]] constexpr candidate const* end() const noexcept { return all_.data() + size_; }

private:
    std::array<candidate, key_type_count> all_{};
    std::uint32_t size_ = 0;
};

} // namespace cleat::tls
