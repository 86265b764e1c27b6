// The gather write for any SSL: a loop around SSL_write that decides which bytes make a record.
//
// Each turn offers SSL_write one run of bytes: a stretch of a piece, where it lies, or small pieces
// copied together. SSL_write binds its caller to offer an unfinished run again, and only that is
// remembered between calls (retry.hpp): how far the call had come and how long the run
// was. The copy itself is made anew from the caller's pieces, but where the library goes on reading
// the first one.
//
// From the bottom up: the public functions choose a way. write_one and write_record are the short
// ways for nearly all calls, one piece or one record that is no retry; what they cost beside
// SSL_write decides whether gathering pays. They leave everything unusual to write_list, which
// checks the arguments and runs the loop, write_from.

#include <cleat/ssl_writev.h>
#include <cleat/tls/ssl_writev/gather_buffer.hpp>
#include <cleat/tls/ssl_writev/pieces.hpp>
#include <cleat/tls/ssl_writev/retry.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

namespace cleat::tls::writev {

namespace {

// partial_writes says whether a call ends after its first record. Asking costs OpenSSL 4 as much as
// copying 1 KiB, so a call asks once.
bool partial_writes(call& c)
{
    if (!c.partial)
        c.partial = (SSL_get_mode(c.ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) != 0;
    return *c.partial;
}

// copied_size_max is what is copied together at the cursor: several records, unless SSL_write would
// take one of them and leave the others to be copied again.
std::size_t copied_size_max(call& c, cursor const& at)
{
    return at.left <= record_size_max || partial_writes(c) ? record_size_max : gather_size_max;
}

int write(SSL* ssl, run const& r)
{
    return SSL_write(ssl, r.bytes, static_cast<int>(r.size));
}

// behind is the cursor behind what SSL_write took of a run at `at`.
cursor behind(cursor const& at, run const& r, int taken)
{
    auto const size = static_cast<std::size_t>(taken);
    return size == r.size ? r.behind : at.after(size);
}

// write_moved offers the bytes of a retry from another address than before, which SSL_write accepts
// only if told.
int write_moved(SSL* ssl, run const& r)
{
    bool const told = (SSL_get_mode(ssl) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) != 0;
    if (!told)
        SSL_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int const ret = write(ssl, r);
    if (!told)
        SSL_clear_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ret;
}

// next_run is the run at the cursor: the stretch of a piece that can stay where it is, or small
// pieces copied together. Its bytes are null where memory is short.
run next_run(call& c, cursor const& at)
{
    if (std::size_t const size = run_in_place(at); size != 0)
        return {at.data(), size, at.after(size), false};
    unsigned char* const copy = c.room.bytes();
    if (copy == nullptr)
        return {nullptr, 0, at, true};
    cursor const behind = gather(at, copy, copied_size_max(c, at));
    return {copy, at.left - behind.left, behind, true};
}

// run_again is the run that an unfinished call must offer again, likewise. A copied run is the very
// copy of before where that was held, and else made anew.
run run_again(call& c, cursor const& at, std::size_t size)
{
    if (size <= at.here())
        return {at.data(), size, at.after(size), false};
    if (c.state->held != nullptr) {
        c.room.take_over(std::move(c.state->held));
        return {c.room.bytes(), size, at.after(size), true};
    }
    unsigned char* const copy = c.room.bytes();
    if (copy == nullptr)
        return {nullptr, 0, at, true};
    return {copy, size, copy_out(at, size, copy), true, true};
}

// write_from writes what is left at the cursor; first, in a retry, a run of `unfinished` bytes.
int write_from(call& c, cursor at, std::size_t unfinished, std::size_t* written)
{
    for (;;) {
        run const next = unfinished != 0 ? run_again(c, at, unfinished) : next_run(c, at);
        if (next.bytes == nullptr)
            return fail(c.ssl, ERR_R_MALLOC_FAILURE);
        int const ret = next.moved ? write_moved(c.ssl, next) : write(c.ssl, next);
        if (ret <= 0)
            return remember(c, c.total - at.left, next, ret);
        at = behind(at, next, ret);
        if (at.left == 0 || partial_writes(c))
            break;
        unfinished = 0;
    }
    forget(c);
    *written = c.total - at.left;
    return 1;
}

// measure adds up to size_max bytes of the pieces, and returns 0 or the reason why they are
// refused.
int measure(iovec const* pieces, int count, std::size_t size_max, std::size_t& total)
{
    if (count < 0)
        return SSL_R_BAD_LENGTH;
    if (pieces == nullptr && count != 0)
        return ERR_R_PASSED_NULL_PARAMETER;
    std::size_t room = std::min(size_max, std::size_t{INT_MAX} + 1);
    std::size_t const room_at_first = room;
    for (iovec const* piece = pieces; piece != pieces + count && room != 0; ++piece) {
        if (piece->iov_base == nullptr && piece->iov_len != 0)
            return ERR_R_PASSED_NULL_PARAMETER;
        room -= std::min(piece->iov_len, room);
    }
    total = room_at_first - room;
    return total > INT_MAX ? SSL_R_BAD_LENGTH : 0;
}

// write_list is the way for every call: any list, any state.
int write_list(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    gather_room& room)
{
    if (written == nullptr)
        return fail(ssl, ERR_R_PASSED_NULL_PARAMETER);
    *written = 0;
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0)
        return fail(ssl, reason);
    call c{ssl, pieces, total, state_of(ssl), room};
    if (total == 0 && c.state == nullptr)
        return 1;
    cursor const at{pieces, total};
    if (c.state == nullptr)
        return write_from(c, at, 0, written);
    if (!same_as_before(c))
        return fail(ssl, SSL_R_BAD_WRITE_RETRY);
    return write_from(c, at.after(c.state->done), c.state->run, written);
}

// write_any is write_list with a room of its own.
[[gnu::noinline]] int write_any(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    gather_room room;
    return write_list(ssl, pieces, count, max_bytes, written, room);
}

// after_first_run goes on after SSL_write returned ret for the first run.
[[gnu::noinline]] int after_first_run(call c, run const& first, int ret, std::size_t* written)
{
    *written = 0;
    if (ret <= 0)
        return remember(c, 0, first, ret);
    cursor const at = behind({c.pieces, c.total}, first, ret);
    if (at.left != 0 && !partial_writes(c))
        return write_from(c, at, 0, written);
    *written = c.total - at.left;
    return 1;
}

// after_one goes on after SSL_write returned ret for the one piece there is.
[[gnu::noinline]] int after_one(SSL* ssl, iovec const* piece, int ret, std::size_t* written)
{
    gather_room room;
    std::size_t const size = piece->iov_len;
    auto const* const bytes = static_cast<unsigned char const*>(piece->iov_base);
    return after_first_run(
        {ssl, piece, size, nullptr, room}, {bytes, size, {piece, 0}, false}, ret, written);
}

// write_one writes one piece as SSL_write does. Inline and without a frame of its own: what it
// costs beside SSL_write is all that a single piece pays.
[[gnu::always_inline]] inline int write_one(
    SSL* ssl, iovec const* piece, std::size_t max_bytes, std::size_t* written)
{
    bool const plain = written != nullptr && piece != nullptr && piece->iov_base != nullptr &&
                       piece->iov_len - 1 < std::min(max_bytes, std::size_t{INT_MAX});
    if (!plain || state_of(ssl) != nullptr) [[unlikely]]
        return write_any(ssl, piece, 1, max_bytes, written);
    std::size_t const size = piece->iov_len;
    int const ret = SSL_write(ssl, piece->iov_base, static_cast<int>(size));
    if (static_cast<std::size_t>(ret) != size) [[unlikely]]
        return after_one(ssl, piece, ret, written);
    *written = size;
    return 1;
}

// write_begun is write_list when the first `copied` bytes, all before `next`, are in the room
// already.
[[gnu::noinline]] int write_begun(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    unsigned char* gathered, std::size_t copied, iovec const* next)
{
    gather_room room{gathered};
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0) {
        *written = 0;
        return fail(ssl, reason);
    }
    if (total == 0 || run_in_place({pieces, total}) != 0)
        return write_list(ssl, pieces, count, max_bytes, written, room);
    cursor const behind = gather({next, total - copied}, gathered, record_size_max, copied);
    run const first{gathered, total - behind.left, behind, true};
    int const ret = write(ssl, first);
    return after_first_run({ssl, pieces, total, nullptr, room}, first, ret, written);
}

// after_record goes on after SSL_write returned ret for a record that is all of the call.
[[gnu::noinline]] int after_record(
    SSL* ssl, iovec const* pieces, run const& record, unsigned char* gathered, int ret,
    std::size_t* written)
{
    gather_room room{gathered};
    return after_first_run({ssl, pieces, record.size, nullptr, room}, record, ret, written);
}

// write_record writes pieces that make one record together, in one pass over them. When it finds
// out that they do not, or that one is large enough to stay in place, write_begun goes on from
// there.
[[gnu::noinline]] int write_record(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    if (written == nullptr || state_of(ssl) != nullptr) [[unlikely]]
        return write_any(ssl, pieces, count, max_bytes, written);
    unsigned char* const gathered = take_room();
    if (gathered == nullptr) [[unlikely]]
        return write_any(ssl, pieces, count, max_bytes, written);
    unsigned char* to = gathered;
    std::size_t left = std::min(max_bytes, record_size_max);
    iovec const* piece = pieces;
    iovec const* const last = pieces + count;
    do {
        std::size_t const size = piece->iov_len;
        auto const* const from = static_cast<unsigned char const*>(piece->iov_base);
        if (size > left || size >= in_place_size_min || from == nullptr) [[unlikely]] {
            auto const copied = static_cast<std::size_t>(to - gathered);
            return write_begun(ssl, pieces, count, max_bytes, written, gathered, copied, piece);
        }
        left -= size;
        to = copy(to, from, size);
    } while (++piece != last);

    auto const total = static_cast<std::size_t>(to - gathered);
    // Where the first piece is empty or all there is, a retry would look for the run in place.
    if (pieces->iov_len - 1 >= total - 1) [[unlikely]] {
        give_room(gathered);
        return write_any(ssl, pieces, count, max_bytes, written);
    }
    int const ret = SSL_write(ssl, gathered, static_cast<int>(total));
    if (static_cast<std::size_t>(ret) != total) [[unlikely]]
        return after_record(
            ssl, pieces, {gathered, total, {last, 0}, true}, gathered, ret, written);
    give_room(gathered);
    *written = total;
    return 1;
}

[[gnu::always_inline]] inline int write_pieces(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    if (count == 1)
        return write_one(ssl, pieces, max_bytes, written);
    if (count > 1 && pieces != nullptr)
        return write_record(ssl, pieces, count, max_bytes, written);
    return write_any(ssl, pieces, count, max_bytes, written);
}

} // namespace

} // namespace cleat::tls::writev

int cleat_ssl_writev(SSL* ssl, iovec const* pieces, int count, std::size_t* written)
{
    return cleat::tls::writev::write_pieces(ssl, pieces, count, SIZE_MAX, written);
}

int cleat_ssl_writev_ex(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    return cleat::tls::writev::write_pieces(ssl, pieces, count, max_bytes, written);
}
