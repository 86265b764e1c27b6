// The gather write for any SSL: a loop around SSL_write that decides which bytes make a record.
//
// Each turn offers SSL_write one run of bytes: a stretch of a piece, where it lies, or small pieces
// copied together. SSL_write binds its caller to offer an unfinished run again, and
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
#include <memory>
#include <new>

namespace cleat::tls::writev {

namespace {

// A record's bytes copied together. It is never cleared: bytes not used are not touched.
using record = std::array<unsigned char, record_size_max>;

using room_ptr = std::unique_ptr<unsigned char[]>;

bool allocate(room_ptr& room)
{
    if (room == nullptr)
        room.reset(new (std::nothrow) unsigned char[gather_size_max]);
    return room != nullptr;
}

bool partial_writes(SSL* ssl)
{
    return (SSL_get_mode(ssl) & SSL_MODE_ENABLE_PARTIAL_WRITE) != 0;
}

// room is where a run is copied together.
struct room
{
    unsigned char* at; // null where memory is short
    std::size_t size;
};

// room_for the run at the cursor, `run` bytes long in a retry. One record is on the stack; more are
// from the heap, unless SSL_write would take one of them and leave the others to be copied again.
room room_for(call& c, cursor const& at, std::size_t run)
{
    bool const one =
        run == 0 ? at.left <= record_size_max || partial_writes(c.ssl) : run <= record_size_max;
    if (one)
        return {c.gathered, record_size_max};
    if (allocate(c.large))
        return {c.large.get(), gather_size_max};
    return {run == 0 ? c.gathered : nullptr, record_size_max};
}

// room_held keeps its address, and what is in it, until the run is written.
room room_held(call& c)
{
    if (!make_state(c) || !allocate(c.state->held))
        return {nullptr, 0};
    return {c.state->held.get(), gather_size_max};
}

// write_moved offers the bytes of a retry from another address than before, which SSL_write accepts
// only if told.
int write_moved(SSL* ssl, unsigned char const* from, int size)
{
    bool const told = (SSL_get_mode(ssl) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) != 0;
    if (!told)
        SSL_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int const ret = SSL_write(ssl, from, size);
    if (!told)
        SSL_clear_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return ret;
}

// offer_in_place offers the run where it lies, and moves the cursor behind what was taken of it.
int offer_in_place(call& c, cursor& at, std::size_t run)
{
    int const ret = SSL_write(c.ssl, at.data(), static_cast<int>(run));
    if (ret > 0)
        at.advance(static_cast<std::size_t>(ret));
    return ret;
}

// offer_copied offers a run that is copied together, likewise, and says how long it is. In a retry
// it is as long as before.
int offer_copied(call& c, cursor& at, std::size_t& run, bool again)
{
    bool const held = backend::rereads_plaintext(c.ssl);
    room const to = held ? room_held(c) : room_for(c, at, again ? run : 0);
    if (to.at == nullptr)
        return fail(c.ssl, ERR_R_MALLOC_FAILURE);
    cursor const behind = again ? copy_out(at, run, to.at) : gather(at, to.at, to.size);
    run = at.left - behind.left;
    int const size = static_cast<int>(run);
    int const ret =
        again && !held ? write_moved(c.ssl, to.at, size) : SSL_write(c.ssl, to.at, size);
    if (ret == size)
        at = behind;
    else if (ret > 0)
        at.advance(static_cast<std::size_t>(ret));
    return ret;
}

// write_from writes what is left at the cursor; `again` when a run of that length must come first.
int write_from(call& c, cursor at, std::size_t run, bool again, std::size_t* written)
{
    for (;;) {
        if (!again)
            run = run_in_place(at);
        bool const in_place = run != 0 && run <= at.here();
        std::size_t const done = c.total - at.left;
        int const ret = in_place ? offer_in_place(c, at, run) : offer_copied(c, at, run, again);
        if (ret <= 0)
            return remember(c, done, run, ret);
        if (at.left == 0 || partial_writes(c.ssl))
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

// after_first_run goes on after SSL_write returned ret for the first run, behind which is `behind`.
[[gnu::noinline]] int after_first_run(
    call c, cursor behind, std::size_t run, int ret, std::size_t* written)
{
    *written = 0;
    if (ret <= 0)
        return remember(c, 0, run, ret);
    if (static_cast<std::size_t>(ret) != run) {
        behind = cursor{c.pieces, c.total};
        behind.advance(static_cast<std::size_t>(ret));
    }
    if (behind.left != 0 && !partial_writes(c.ssl))
        return write_from(c, behind, 0, false, written);
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
        return after_first_run(
            {ssl, piece, total, nullptr, nullptr}, {piece, 0}, total, ret, written);
    *written = total;
    return 1;
}

// write_begun is write_list when the first `copied` bytes, all before `next`, are in `gathered`
// already.
[[gnu::noinline]] int write_begun(
    SSL* ssl, iovec const* pieces, int count, std::size_t max_bytes, std::size_t* written,
    unsigned char* gathered, std::size_t copied, iovec const* next)
{
    std::size_t total = 0;
    if (int const reason = measure(pieces, count, max_bytes, total); reason != 0) {
        *written = 0;
        return fail(ssl, reason);
    }
    if (total == 0 || run_in_place({pieces, total}) != 0)
        return write_list(ssl, pieces, count, max_bytes, written);
    cursor const behind = gather({next, total - copied}, gathered, record_size_max, copied);
    std::size_t const run = total - behind.left;
    int const ret = SSL_write(ssl, gathered, static_cast<int>(run));
    return after_first_run({ssl, pieces, total, nullptr, gathered}, behind, run, ret, written);
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
            return write_begun(
                ssl, pieces, count, max_bytes, written, gathered.data(), copied, piece);
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
        return after_first_run(
            {ssl, pieces, total, nullptr, gathered.data()}, {last, 0}, total, ret, written);
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
