// gather: a list of buffers as a sequence of full records. Not a public header.

#pragma once

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

namespace cleat::tls {

/// gather walks over pieces record by record: front() is the plaintext of the next record, which is
/// full except for the last. A record that lies in one piece stays in place; a record that spans
/// pieces is copied into a staging block on the stack.
///
/// Each record costs 22 to 29 bytes and one pass through the library (RFC 8446, section 5.2), so
/// one copy of N small pieces pays.
class gather
{
public:
    using pieces = std::span<std::span<std::byte const> const>;

    explicit gather(pieces all) noexcept : rest_{all} { skip_empty(); }

    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }

    /// front is the next record's plaintext, valid until pop. Not empty unless the gather is.
    [[nodiscard]] std::span<std::byte const> front() noexcept { return run(1); }

    /// run is front, or where one piece has several full records, up to `records` of them.
    [[nodiscard]] std::span<std::byte const> run(std::size_t records) noexcept
    {
        if (empty())
            return {};
        std::span<std::byte const> const first = rest_.front().subspan(offset_);
        if (first.size() >= limits::plaintext_record_max)
            return first.first(
                std::min(records, first.size() / limits::plaintext_record_max) *
                limits::plaintext_record_max);
        if (rest_.size() == 1)
            return first;
        return staged(first);
    }

    /// pop takes n bytes off the front.
    void pop(std::size_t n) noexcept
    {
        offset_ += n;
        while (!rest_.empty() && offset_ >= rest_.front().size()) {
            offset_ -= rest_.front().size();
            rest_ = rest_.subspan(1);
        }
    }

private:
    std::span<std::byte const> staged(std::span<std::byte const> first) noexcept
    {
        std::size_t used = copy(first, 0);
        for (std::size_t i = 1; i < rest_.size() && used < staging_.size(); ++i)
            used += copy(rest_[i], used);
        return std::span{staging_}.first(used);
    }

    std::size_t copy(std::span<std::byte const> from, std::size_t offset) noexcept
    {
        std::size_t const n = std::min(from.size(), staging_.size() - offset);
        if (n != 0)
            std::memcpy(staging_.data() + offset, from.data(), n);
        return n;
    }

    void skip_empty() noexcept { pop(0); }

    pieces rest_;
    std::size_t offset_ = 0;
    std::array<std::byte, limits::plaintext_record_max> staging_; // Only bytes in use are touched.
};

} // namespace cleat::tls
