// text_arena: short texts in one block of memory, found by their offset. Not a public header.

#pragma once

#include <cleat/core/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// text_arena costs a text one byte beside its own: a std::string costs 32, and often a block of
/// the heap.
class text_arena
{
public:
    using offset = std::uint32_t;
    static constexpr std::size_t text_max = 255;

    /// append adds a text of at most text_max bytes. Throws std::length_error beyond 4 GiB.
    offset append(std::string_view text)
    {
        CLEAT_ASSERT(text.size() <= text_max);
        if (bytes_.size() + text.size() >= UINT32_MAX)
            throw std::length_error{"the names of all certificates take more than 4 GiB"};
        offset const place = static_cast<offset>(bytes_.size());
        bytes_.push_back(static_cast<char>(static_cast<unsigned char>(text.size())));
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        return place;
    }

    /// at is the text at an offset that append returned. Valid until the next append.
    [[nodiscard]] std::string_view at(offset place) const noexcept
    {
        return {bytes_.data() + place + 1, static_cast<unsigned char>(bytes_[place])};
    }

    /// next is the offset of the text that was appended after this one.
    [[nodiscard]] offset next(offset place) const noexcept
    {
        return place + 1 + static_cast<unsigned char>(bytes_[place]);
    }

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

    void shrink() { bytes_.shrink_to_fit(); }

private:
    std::vector<char> bytes_; // Each text behind its length.
};

} // namespace cleat::tls
