// unfinished: what an SSL remembers of a gather write that must be retried. Not a public header.
//
// SSL_write binds its caller to offer an unfinished run again, so a call that could not finish
// keeps how far it had come and how long the run was, and a fingerprint of the pieces to tell the
// right retry from a wrong one. It lives in the SSL's ex_data from that call to the one that
// finishes.

#pragma once

#include <cleat/tls/ssl_writev/gather_buffer.hpp>
#include <cleat/tls/ssl_writev/pieces.hpp>

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace cleat::tls::writev {

struct fingerprint
{
    std::uint64_t lengths = 0; // what the pieces looked like
    std::uint64_t places = 0;  // and where they were
};

struct unfinished
{
    std::size_t total = 0; // bytes of the whole call
    std::size_t done = 0;  // bytes of it that SSL_write has taken
    std::size_t run = 0;   // length of the run that SSL_write holds us to
    fingerprint pieces{};
    room_ptr held{}; // a copied run that the library reads again later
};

/// call is one call of cleat_ssl_writev_ex whose arguments were found good.
struct call
{
    SSL* ssl;
    iovec const* pieces;
    std::size_t total;
    unfinished* state; // of the SSL; null unless this is a retry
    gather_room& room;
    std::optional<bool> partial{}; // whether the call ends after a record; asked when needed
};

[[nodiscard]] int register_ex_data() noexcept;

/// ex_data_index is where an SSL keeps its state.
[[nodiscard]] inline int ex_data_index() noexcept
{
    static int const index = register_ex_data();
    return index;
}

/// state_of is the state of ssl, or null when no retry is due. Inline, because every call asks.
[[nodiscard]] inline unfinished* state_of(SSL const* ssl) noexcept
{
    return static_cast<unfinished*>(SSL_get_ex_data(ssl, ex_data_index()));
}

/// make_state gives the call a state; false when memory is short.
[[nodiscard]] bool make_state(call& c) noexcept;

/// forget is for a call that is complete, or has failed for good.
void forget(call& c) noexcept;

/// same_as_before is true when the call is the retry that its state waits for.
[[nodiscard]] bool same_as_before(call const& c) noexcept;

/// remember keeps what a retry needs after SSL_write returned ret for a run before which `done`
/// bytes had been written, and returns ret.
[[nodiscard]] int remember(call& c, std::size_t done, run const& r, int ret) noexcept;

/// fail reports an error that SSL_write never saw: SSL_get_error says SSL_ERROR_SSL, the error
/// queue says the reason. Returns what the call returns.
[[nodiscard]] int fail(SSL* ssl, int reason) noexcept;

} // namespace cleat::tls::writev
