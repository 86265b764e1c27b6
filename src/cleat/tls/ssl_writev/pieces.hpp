// pieces: the caller's list of buffers as the gather write walks over it. Pure; not a public
// header.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <sys/uio.h>

namespace cleat::tls::writev {

/// record_size_max is the limit of RFC 8446, section 5.1, and RFC 5246, section 6.2.1. A smaller
/// limit (SSL_set_max_send_fragment) has no getter in any library; the library then cuts runs
/// itself.
inline constexpr std::size_t record_size_max = 16384;

/// in_place_size_min: a copy of fewer bytes costs less than avoiding the copy.
inline constexpr std::size_t in_place_size_min = 4096;

/// gather_size_max is the most copied bytes in one SSL_write. A call of SSL_write costs as much as
/// the encryption of 1 KiB, so a long message in small pieces is written four records at a time.
inline constexpr std::size_t gather_size_max = 4 * record_size_max;

/// cursor is a place in the pieces. Bytes after `left` are not part of the call.
struct cursor
{
    iovec const* piece;
    std::size_t offset; // in *piece; below its length unless left is 0
    std::size_t left;   // bytes from the cursor to the end of the call

    cursor(iovec const* first, std::size_t total) noexcept : piece{first}, offset{0}, left{total}
    {
        skip_empty();
    }

    [[nodiscard]] unsigned char const* data() const noexcept
    {
        return static_cast<unsigned char const*>(piece->iov_base) + offset;
    }

    /// contiguous is the number of bytes from the cursor to the end of its piece.
    [[nodiscard]] std::size_t contiguous() const noexcept
    {
        return std::min(piece->iov_len - offset, left);
    }

    void advance(std::size_t size) noexcept
    {
        if (size == left) {
            left = 0;
            return;
        }
        while (size != 0) {
            std::size_t const step = std::min(size, contiguous());
            size -= step;
            left -= step;
            offset += step;
            skip_empty();
        }
    }

    /// after is the cursor size bytes further on.
    [[nodiscard]] cursor after(std::size_t size) const noexcept
    {
        cursor c = *this;
        c.advance(size);
        return c;
    }

private:
    void skip_empty() noexcept
    {
        while (left != 0 && offset == piece->iov_len) {
            ++piece;
            offset = 0;
        }
    }
};

/// run is what one SSL_write is given.
struct run
{
    unsigned char const* bytes; // a stretch of a piece, or the pieces' copy
    std::size_t size;
    cursor end; // the place after it
    bool copied;
    bool moved = false; // it was offered before, from another address
};

constexpr std::size_t records_of(std::size_t size) noexcept
{
    return (size + record_size_max - 1) / record_size_max;
}

/// ends_a_record_free is true where ending a record after `size` of the `left` bytes makes no more
/// records than necessary.
constexpr bool ends_a_record_free(std::size_t size, std::size_t left) noexcept
{
    return records_of(size) + records_of(left - size) == records_of(left);
}

/// run_in_place is the length of the run at `position` where it stays in place, and 0 where
/// gather() must copy it together. A retry asks again, and must get the same answer.
inline std::size_t run_in_place(cursor const& position) noexcept
{
    std::size_t const first = position.contiguous();
    if (first == position.left)
        return first;
    if (first >= record_size_max && !ends_a_record_free(first, position.left))
        return first - first % record_size_max;
    cursor const next = position.after(first);
    bool const ends = first >= in_place_size_min || next.contiguous() >= in_place_size_min;
    return ends && ends_a_record_free(first, position.left) ? first : 0;
}

/// copy_ends copies N to 2N bytes as the first N and the last N, which may overlap.
template <std::size_t N>
void copy_ends(unsigned char* to, unsigned char const* from, std::size_t size) noexcept
{
    std::memcpy(to, from, N);
    std::memcpy(to + size - N, from + size - N, N);
}

/// copy is memcpy that costs no call for small sizes: in [50]x20 the calls are a quarter of the
/// time. Returns where the copy ends.
inline unsigned char* copy(unsigned char* to, unsigned char const* from, std::size_t size) noexcept
{
    if (size > 128)
        std::memcpy(to, from, size);
    else if (size >= 64)
        copy_ends<64>(to, from, size);
    else if (size >= 32)
        copy_ends<32>(to, from, size);
    else if (size >= 16)
        copy_ends<16>(to, from, size);
    else if (size >= 8)
        copy_ends<8>(to, from, size);
    else if (size >= 4)
        copy_ends<4>(to, from, size);
    else if (size >= 2)
        copy_ends<2>(to, from, size);
    else if (size == 1)
        *to = *from;
    return to + size;
}

/// copy_out copies size bytes from `position` on, and returns the cursor after them.
inline cursor copy_out(cursor position, std::size_t size, unsigned char* to) noexcept
{
    while (size != 0) {
        std::size_t const step = std::min(position.contiguous(), size);
        to = copy(to, position.data(), step);
        position.advance(step);
        size -= step;
    }
    return position;
}

/// gather copies a run together, `size_max` bytes at most, and returns the cursor after it. The
/// first `copied` bytes of the run, those before `position`, are at `to` already. The run ends
/// early where the next piece can stay in place.
inline cursor gather(
    cursor position, unsigned char* to, std::size_t size_max, std::size_t copied = 0) noexcept
{
    std::size_t const left_at_first = position.left + copied;
    std::size_t room = size_max - copied;
    to += copied;
    for (;;) {
        std::size_t const size = position.contiguous();
        if (size >= in_place_size_min && room != size_max &&
            ends_a_record_free(size_max - room, left_at_first)) [[unlikely]]
            return position;
        if (size >= room)
            break;
        to = copy(to, position.data(), size);
        room -= size;
        position.left -= size;
        if (position.left == 0)
            return position;
        ++position.piece;
        position.offset = 0;
    }
    copy(to, position.data(), room);
    position.advance(room);
    return position;
}

} // namespace cleat::tls::writev
