// The gather write for any SSL: a loop around SSL_write that decides which bytes make a record.
//
// Each turn gives SSL_write one run of bytes: part of a piece, in place, or small pieces copied
// together. SSL_write requires its caller to offer an unfinished run again, so how far the call
// came and how long the run was are remembered between calls (retry.hpp). The copy itself is made
// again from the caller's pieces, except where the library goes on reading the first one.
//
// From the bottom up: the public functions choose a path. write_one and write_record are the short
// paths for nearly all calls: one piece, or one record, that is no retry. Gathering pays only if
// they cost little beside SSL_write. They leave every other call to write_list, which checks the
// arguments and runs the loop, write_from.

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

// partial_writes says whether a call ends after its first record. The question costs as much in
// OpenSSL 4 as a copy of 1 KiB, so a call asks once.
bool partial_writes(call& c)
{
    if (!c.partial)
        c.partial = (SSL_get_mode(c.ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) != 0;
    return *c.partial;
}

// copied_size_max is the most to copy together at `position`: several records, unless SSL_write
// would take one of them and leave the others to be copied again.
std::size_t copied_size_max(call& c, cursor const& position)
{
    return position.left <= record_size_max || partial_writes(c) ? record_size_max
                                                                 : gather_size_max;
}

int write_all(SSL* ssl, run const& r)
{
    return SSL_write(ssl, r.bytes, static_cast<int>(r.size));
}

// position_after is the cursor after the `taken` bytes of a run that begins at `position`.
cursor position_after(cursor const& position, run const& r, int taken)
{
    auto const size = static_cast<std::size_t>(taken);
    return size == r.size ? r.end : position.after(size);
}

// write_moved offers the bytes of a retry from another address than before, which SSL_write accepts
// only in a mode of its own.
int write_moved(SSL* ssl, run const& r)
{
    bool const has_mode = (SSL_get_mode(ssl) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) != 0;
    if (!has_mode)
        SSL_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int const ret = write_all(ssl, r);
    if (!has_mode)
        SSL_clear_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ret;
}

// next_run is the run at `position`: part of a piece, in place, or small pieces copied together.
// Its bytes are null where memory is short.
run next_run(call& c, cursor const& position)
{
    if (std::size_t const size = run_in_place(position); size != 0)
        return {position.data(), size, position.after(size), false};
    unsigned char* const copy = c.buffer.bytes();
    if (copy == nullptr)
        return {nullptr, 0, position, true};
    cursor const end = gather(position, copy, copied_size_max(c, position));
    return {copy, position.left - end.left, end, true};
}

// retried_run is the run that a retry must offer again, likewise. A copied run is the held copy,
// where there is one, or is copied again.
run retried_run(call& c, cursor const& position, std::size_t size)
{
    if (size <= position.contiguous())
        return {position.data(), size, position.after(size), false};
    if (c.state->held != nullptr) {
        c.buffer.take_over(std::move(c.state->held));
        return {c.buffer.bytes(), size, position.after(size), true};
    }
    unsigned char* const copy = c.buffer.bytes();
    if (copy == nullptr)
        return {nullptr, 0, position, true};
    return {copy, size, copy_out(position, size, copy), true, true};
}

// write_from writes everything from `position` on. In a retry it begins with the unfinished run, of
// `retried_size` bytes.
int write_from(call& c, cursor position, std::size_t retried_size, std::size_t* written)
{
    for (;;) {
        run const next =
            retried_size != 0 ? retried_run(c, position, retried_size) : next_run(c, position);
        if (next.bytes == nullptr)
            return fail(c.ssl, ERR_R_MALLOC_FAILURE);
        int const ret = next.moved ? write_moved(c.ssl, next) : write_all(c.ssl, next);
        if (ret <= 0)
            return remember(c, c.total - position.left, next, ret);
        position = position_after(position, next, ret);
        if (position.left == 0 || partial_writes(c))
            break;
        retried_size = 0;
    }
    forget(c);
    *written = c.total - position.left;
    return 1;
}

// measure sums the pieces, up to size_max bytes. Returns 0, or the reason why they are refused.
int measure(iovec const* pieces, int count, std::size_t size_max, std::size_t& total)
{
    if (count < 0)
        return SSL_R_BAD_LENGTH;
    if (pieces == nullptr && count != 0)
        return ERR_R_PASSED_NULL_PARAMETER;
    std::size_t left = std::min(size_max, std::size_t{INT_MAX} + 1);
    std::size_t const left_at_first = left;
    for (iovec const* piece = pieces; piece != pieces + count && left != 0; ++piece) {
        if (piece->iov_base == nullptr && piece->iov_len != 0)
            return ERR_R_PASSED_NULL_PARAMETER;
        left -= std::min(piece->iov_len, left);
    }
    total = left_at_first - left;
    return total > INT_MAX ? SSL_R_BAD_LENGTH : 0;
}

// write_list serves every call: any list, any state.
int write_list(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    gather_buffer& buffer)
{
    if (written == nullptr)
        return fail(ssl, ERR_R_PASSED_NULL_PARAMETER);
    *written = 0;
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0)
        return fail(ssl, reason);
    call c{ssl, pieces, total, retry_state_of(ssl), buffer};
    if (total == 0 && c.state == nullptr)
        return 1;
    cursor const position{pieces, total};
    if (c.state == nullptr)
        return write_from(c, position, 0, written);
    if (!same_as_before(c))
        return fail(ssl, SSL_R_BAD_WRITE_RETRY);
    return write_from(c, position.after(c.state->done), c.state->run, written);
}

// write_any is write_list with a buffer of its own.
[[gnu::noinline]] int write_any(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    gather_buffer buffer;
    return write_list(ssl, pieces, count, max_bytes, written, buffer);
}

// continue_after_run: SSL_write has returned ret for the first run.
[[gnu::noinline]] int continue_after_run(call c, run const& first, int ret, std::size_t* written)
{
    *written = 0;
    if (ret <= 0)
        return remember(c, 0, first, ret);
    cursor const position = position_after({c.pieces, c.total}, first, ret);
    if (position.left != 0 && !partial_writes(c))
        return write_from(c, position, 0, written);
    *written = c.total - position.left;
    return 1;
}

// continue_after_piece: SSL_write has returned ret for the only piece.
[[gnu::noinline]] int continue_after_piece(
    SSL* ssl, iovec const* piece, int ret, std::size_t* written)
{
    gather_buffer buffer;
    std::size_t const size = piece->iov_len;
    auto const* const bytes = static_cast<unsigned char const*>(piece->iov_base);
    return continue_after_run(
        {ssl, piece, size, nullptr, buffer}, {bytes, size, {piece, 0}, false}, ret, written);
}

// write_one writes one piece as SSL_write does. Inline and without a frame of its own: a single
// piece pays nothing else beside SSL_write.
[[gnu::always_inline]] inline int write_one(
    SSL* ssl, iovec const* piece, std::size_t max_bytes, std::size_t* written)
{
    bool const plain = written != nullptr && piece != nullptr && piece->iov_base != nullptr &&
                       piece->iov_len - 1 < std::min(max_bytes, std::size_t{INT_MAX});
    if (!plain || retry_state_of(ssl) != nullptr) [[unlikely]]
        return write_any(ssl, piece, 1, max_bytes, written);
    std::size_t const size = piece->iov_len;
    int const ret = SSL_write(ssl, piece->iov_base, static_cast<int>(size));
    if (static_cast<std::size_t>(ret) != size) [[unlikely]]
        return continue_after_piece(ssl, piece, ret, written);
    *written = size;
    return 1;
}

// write_gathered is write_list where the first `copied` bytes, all before `next`, are in the buffer
// already.
[[gnu::noinline]] int write_gathered(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    unsigned char* gathered, std::size_t copied, iovec const* next)
{
    gather_buffer buffer{gathered};
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0) {
        *written = 0;
        return fail(ssl, reason);
    }
    if (total == 0 || run_in_place({pieces, total}) != 0)
        return write_list(ssl, pieces, count, max_bytes, written, buffer);
    cursor const end = gather({next, total - copied}, gathered, record_size_max, copied);
    run const first{gathered, total - end.left, end, true};
    int const ret = write_all(ssl, first);
    return continue_after_run({ssl, pieces, total, nullptr, buffer}, first, ret, written);
}

// continue_after_record: SSL_write has returned ret for a record that is all of the call.
[[gnu::noinline]] int continue_after_record(
    SSL* ssl, iovec const* pieces, run const& record, unsigned char* gathered, int ret,
    std::size_t* written)
{
    gather_buffer buffer{gathered};
    return continue_after_run({ssl, pieces, record.size, nullptr, buffer}, record, ret, written);
}

// write_record writes pieces that make one record together, in one pass over them. Where they are
// more than a record, or one is large enough to stay in place, write_gathered continues.
[[gnu::noinline]] int write_record(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    if (written == nullptr || retry_state_of(ssl) != nullptr) [[unlikely]]
        return write_any(ssl, pieces, count, max_bytes, written);
    unsigned char* const gathered = take_buffer();
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
            return write_gathered(ssl, pieces, count, max_bytes, written, gathered, copied, piece);
        }
        left -= size;
        to = copy(to, from, size);
    } while (++piece != last);

    auto const total = static_cast<std::size_t>(to - gathered);
    // Where the first piece is empty or the only one with bytes, a retry expects the run in place.
    if (pieces->iov_len - 1 >= total - 1) [[unlikely]] {
        return_buffer(gathered);
        return write_any(ssl, pieces, count, max_bytes, written);
    }
    int const ret = SSL_write(ssl, gathered, static_cast<int>(total));
    if (static_cast<std::size_t>(ret) != total) [[unlikely]]
        return continue_after_record(
            ssl, pieces, {gathered, total, {last, 0}, true}, gathered, ret, written);
    return_buffer(gathered);
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
