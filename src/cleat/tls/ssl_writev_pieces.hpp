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

private:
    void skip_empty() noexcept
    {
        while (left != 0 && offset == piece->iov_len) {
            ++piece;
            offset = 0;
        }
    }
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

/// next_run decides how many bytes SSL_write is offered at the cursor. The run lies in place when
/// it is no longer than at.here(); else it is to be copied together and is one record at most.
inline std::size_t next_run(cursor const& at) noexcept
{
    if (at.left <= record_size_max)
        return at.left;
    std::size_t const first = at.here();
    if (first == at.left || (first >= in_place_size_min && ends_a_record_free(first, at.left)))
        return first;
    if (first >= record_size_max)
        return first - first % record_size_max;

    std::size_t gathered = first;
    for (iovec const* piece = at.piece + 1; gathered < at.left; ++piece) {
        std::size_t const next = std::min(piece->iov_len, at.left - gathered);
        if (next >= in_place_size_min && ends_a_record_free(gathered, at.left))
            return gathered;
        if (next >= record_size_max - gathered)
            return record_size_max;
        gathered += next;
    }
    return gathered;
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

/// copy_out copies size bytes from the cursor on.
inline void copy_out(cursor const& at, std::size_t size, unsigned char* to) noexcept
{
    iovec const* piece = at.piece;
    unsigned char const* from = at.data();
    std::size_t step = std::min(at.here(), size);
    for (;;) {
        to = copy(to, from, step);
        size -= step;
        if (size == 0)
            return;
        ++piece;
        from = static_cast<unsigned char const*>(piece->iov_base);
        step = std::min(piece->iov_len, size);
    }
}

} // namespace cleat::tls::writev
