// The gather write for any SSL: a loop around SSL_write that decides which bytes make a record.
//
// Each turn offers SSL_write one run of bytes: a stretch of a piece, where it lies, or small pieces
// copied together on the stack. SSL_write binds its caller to offer an unfinished run again, and
// only that is remembered between calls (ssl_writev_retry.hpp): how far the call had come and how
// long the run was. The copy itself is made anew from the caller's pieces, so no plaintext outlives
// a call.
//
// From the bottom up: the public functions choose a way. write_one and write_record are the short
// ways for nearly all calls, one piece or one record that is no retry; what they cost beside
// SSL_write decides whether gathering pays. They leave everything unusual to write_list, which
// checks the arguments and runs the loop, write_from.

#include <cleat/ssl_writev.h>
#include <cleat/tls/ssl_writev_library.hpp>
#include <cleat/tls/ssl_writev_pieces.hpp>
#include <cleat/tls/ssl_writev_retry.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <new>

namespace cleat::tls::writev {

namespace {

// A record's bytes copied together. It is never cleared: bytes not used are not touched.
using record = std::array<unsigned char, record_size_max>;

// offer_held offers a run that keeps its address until it is written.
int offer_held(call& c, cursor const& at, std::size_t run)
{
    if (!make_state(c))
        return fail(c.ssl, ERR_R_MALLOC_FAILURE);
    if (c.state->held == nullptr)
        c.state->held.reset(new (std::nothrow) unsigned char[record_size_max]);
    if (c.state->held == nullptr)
        return fail(c.ssl, ERR_R_MALLOC_FAILURE);
    copy_out(at, run, c.state->held.get()); // in a retry the same bytes again
    return SSL_write(c.ssl, c.state->held.get(), static_cast<int>(run));
}

// offer_gathered offers a run that is copied together.
int offer_gathered(call& c, cursor const& at, std::size_t run, bool again)
{
    copy_out(at, run, c.gathered);
    // The same bytes are now at another address than before, which SSL_write accepts only if told.
    bool const moves = again && (SSL_get_mode(c.ssl) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) == 0;
    if (moves)
        SSL_set_mode(c.ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int const ret = SSL_write(c.ssl, c.gathered, static_cast<int>(run));
    if (moves)
        SSL_clear_mode(c.ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ret;
}

int offer(call& c, cursor const& at, std::size_t run, bool again)
{
    if (run <= at.here())
        return SSL_write(c.ssl, at.data(), static_cast<int>(run));
    if (backend::rereads_plaintext(c.ssl))
        return offer_held(c, at, run);
    return offer_gathered(c, at, run, again);
}

// write_from writes what is left at the cursor; `again` when a run of that length must come first.
int write_from(call& c, cursor at, std::size_t run, bool again, std::size_t* written)
{
    for (;;) {
        if (!again)
            run = next_run(at);
        int const ret = offer(c, at, run, again);
        if (ret <= 0)
            return remember(c, c.total - at.left, run, ret);
        at.advance(static_cast<std::size_t>(ret));
        if (at.left == 0 || (SSL_get_mode(c.ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) != 0)
            break;
        again = false;
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
[[gnu::noinline]] int write_list(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    if (written == nullptr)
        return fail(ssl, ERR_R_PASSED_NULL_PARAMETER);
    *written = 0;
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0)
        return fail(ssl, reason);
    record gathered;
    call c{ssl, pieces, total, state_of(ssl), gathered.data()};
    if (total == 0 && c.state == nullptr)
        return 1;
    cursor at{pieces, total};
    if (c.state == nullptr)
        return write_from(c, at, 0, false, written);
    if (!same_as_before(c))
        return fail(ssl, SSL_R_BAD_WRITE_RETRY);
    at.advance(c.state->done);
    return write_from(c, at, c.state->run, true, written);
}

// after_first_run goes on after SSL_write returned ret for the first run.
[[gnu::noinline]] int after_first_run(call c, std::size_t run, int ret, std::size_t* written)
{
    *written = 0;
    if (ret <= 0)
        return remember(c, 0, run, ret);
    cursor at{c.pieces, c.total};
    at.advance(static_cast<std::size_t>(ret));
    if (at.left != 0 && (SSL_get_mode(c.ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) == 0)
        return write_from(c, at, 0, false, written);
    *written = static_cast<std::size_t>(ret);
    return 1;
}

[[gnu::noinline]] int write_one(
    SSL* ssl, iovec const* piece, std::size_t max_bytes, std::size_t* written)
{
    bool const plain = written != nullptr && piece != nullptr && piece->iov_base != nullptr &&
                       piece->iov_len - 1 < std::min(max_bytes, std::size_t{INT_MAX});
    if (!plain || state_of(ssl) != nullptr)
        return write_list(ssl, piece, 1, max_bytes, written);
    std::size_t const total = piece->iov_len;
    int const ret = SSL_write(ssl, piece->iov_base, static_cast<int>(total));
    if (static_cast<std::size_t>(ret) != total) [[unlikely]]
        return after_first_run({ssl, piece, total, nullptr, nullptr}, total, ret, written);
    *written = total;
    return 1;
}

// write_begun is write_list when the first `copied` bytes are in `gathered` already.
[[gnu::noinline]] int write_begun(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    unsigned char* gathered, std::size_t copied)
{
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0) {
        *written = 0;
        return fail(ssl, reason);
    }
    cursor const at{pieces, total};
    std::size_t const run = next_run(at);
    if (run <= at.here())
        return write_list(ssl, pieces, count, max_bytes, written);
    if (run > copied) {
        cursor rest = at;
        rest.advance(copied);
        copy_out(rest, run - copied, gathered + copied);
    }
    int const ret = SSL_write(ssl, gathered, static_cast<int>(run));
    return after_first_run({ssl, pieces, total, nullptr, gathered}, run, ret, written);
}

// write_record writes pieces that make one record together, in one pass over them. When it finds
// out that they do not, or that one is large enough to stay in place, write_begun goes on from
// there.
[[gnu::noinline]] int write_record(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    if (written == nullptr || state_of(ssl) != nullptr || backend::rereads_plaintext(ssl))
        [[unlikely]]
        return write_list(ssl, pieces, count, max_bytes, written);
    record gathered;
    unsigned char* to = gathered.data();
    std::size_t room = std::min(max_bytes, record_size_max);
    iovec const* piece = pieces;
    iovec const* const last = pieces + count;
    do {
        std::size_t const size = piece->iov_len;
        auto const* const from = static_cast<unsigned char const*>(piece->iov_base);
        if (size > room || size >= in_place_size_min || from == nullptr) [[unlikely]] {
            auto const copied = static_cast<std::size_t>(to - gathered.data());
            return write_begun(ssl, pieces, count, max_bytes, written, gathered.data(), copied);
        }
        room -= size;
        to = copy(to, from, size);
    } while (++piece != last);

    auto const total = static_cast<std::size_t>(to - gathered.data());
    // Where the first piece is empty or all there is, a retry would look for the run in place.
    if (pieces->iov_len - 1 >= total - 1) [[unlikely]]
        return write_list(ssl, pieces, count, max_bytes, written);
    int const ret = SSL_write(ssl, gathered.data(), static_cast<int>(total));
    if (static_cast<std::size_t>(ret) != total) [[unlikely]]
        return after_first_run({ssl, pieces, total, nullptr, gathered.data()}, total, ret, written);
    *written = total;
    return 1;
}

} // namespace

} // namespace cleat::tls::writev

int cleat_ssl_writev_ex(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written)
{
    using namespace cleat::tls::writev;
    if (count == 1)
        return write_one(ssl, pieces, max_bytes, written);
    if (count > 1 && pieces != nullptr)
        return write_record(ssl, pieces, count, max_bytes, written);
    return write_list(ssl, pieces, count, max_bytes, written);
}

int cleat_ssl_writev(SSL* ssl, iovec const* pieces, int count, std::size_t* written)
{
    return cleat_ssl_writev_ex(ssl, pieces, count, SIZE_MAX, written);
}
