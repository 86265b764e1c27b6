// pieces: the caller's list of buffers as the gather write walks over it. Pure; not a public
// header.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <sys/uio.h>

namespace cleat::tls::writev {

/// record_size_max is RFC 8446 section 5.1, RFC 5246 section 6.2.1. No library can be asked for a
/// smaller maximum (SSL_set_max_send_fragment); it cuts our runs itself then.
inline constexpr std::size_t record_size_max = 16384;

/// in_place_size_min: below this a copy costs less than what is needed to avoid it.
inline constexpr std::size_t in_place_size_min = 4096;

/// gather_size_max is what one SSL_write is offered of copied bytes. A call of SSL_write costs what
/// 1 KiB costs to encrypt, so a long message in small pieces pays for four records at a time.
inline constexpr std::size_t gather_size_max = 4 * record_size_max;

/// cursor is a place in the pieces. Bytes after `left` are not part of the call.
struct cursor
{
    iovec const* piece;
    std::size_t offset; // in *piece; below its length unless left is 0
    std::size_t left;   // bytes from here to the end of the call

    cursor(iovec const* first, std::size_t total) noexcept : piece{first}, offset{0}, left{total}
    {
        skip_empty();
    }

    [[nodiscard]] unsigned char const* data() const noexcept
    {
        return static_cast<unsigned char const*>(piece->iov_base) + offset;
    }

    /// here is the number of bytes that lie together from the cursor on.
    [[nodiscard]] std::size_t here() const noexcept
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
            std::size_t const step = std::min(size, here());
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

/// run is what SSL_write is offered at once.
struct run
{
    unsigned char const* bytes; // a stretch of a piece, or the pieces' copy
    std::size_t size;
    cursor behind; // the place behind it
    bool copied;
    bool moved = false; // it was offered before, from another address
};

constexpr std::size_t records_of(std::size_t size) noexcept
{
    return (size + record_size_max - 1) / record_size_max;
}

/// ends_a_record_free is true where a record may end after size bytes, of left in all, without more
/// records than the fewest that hold them.
constexpr bool ends_a_record_free(std::size_t size, std::size_t left) noexcept
{
    return records_of(size) + records_of(left - size) == records_of(left);
}

/// run_in_place is the length of the run at the cursor where it lies in place, and 0 where it is to
/// be copied together, as gather() does. A retry asks again, and must find the same place.
inline std::size_t run_in_place(cursor const& at) noexcept
{
    std::size_t const first = at.here();
    if (first == at.left)
        return first;
    if (first >= record_size_max && !ends_a_record_free(first, at.left))
        return first - first % record_size_max;
    cursor const next = at.after(first);
    bool const ends = first >= in_place_size_min || next.here() >= in_place_size_min;
    return ends && ends_a_record_free(first, at.left) ? first : 0;
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

/// copy_out copies size bytes from the cursor on, and returns the cursor behind them.
inline cursor copy_out(cursor at, std::size_t size, unsigned char* to) noexcept
{
    while (size != 0) {
        std::size_t const step = std::min(at.here(), size);
        to = copy(to, at.data(), step);
        at.advance(step);
        size -= step;
    }
    return at;
}

/// gather copies a run together that does not lie in place, `size_max` bytes at most, and returns
/// the cursor behind it. `copied` bytes of the run, the ones before the cursor, are at `to`
/// already. The run ends early before a piece that need not be copied then.
inline cursor gather(
    cursor at, unsigned char* to, std::size_t size_max, std::size_t copied = 0) noexcept
{
    std::size_t const left_at_first = at.left + copied;
    std::size_t room = size_max - copied;
    to += copied;
    for (;;) {
        std::size_t const here = at.here();
        if (here >= in_place_size_min && room != size_max &&
            ends_a_record_free(size_max - room, left_at_first)) [[unlikely]]
            return at;
        if (here >= room)
            break;
        to = copy(to, at.data(), here);
        room -= here;
        at.left -= here;
        if (at.left == 0)
            return at;
        ++at.piece;
        at.offset = 0;
    }
    copy(to, at.data(), room);
    at.advance(room);
    return at;
}

} // namespace cleat::tls::writev
