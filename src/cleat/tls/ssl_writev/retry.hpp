// retry_state: what an SSL remembers of a gather write that must be retried. Not a public header.
//
// SSL_write requires its caller to offer an unfinished run again. So a call that could not finish
// keeps how far it came, how long the run was, and a fingerprint of the pieces, by which a wrong
// retry is refused. The state is in the SSL's ex_data from that call to the one that finishes.

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

struct retry_state
{
    std::size_t total = 0; // bytes of the whole call
    std::size_t done = 0;  // bytes of it that SSL_write has taken
    std::size_t run = 0;   // length of the run that SSL_write expects again
    fingerprint pieces{};
    buffer_ptr held{}; // a copied run that the library will read again
};

/// call is one call of cleat_ssl_writev_ex with valid arguments.
struct call
{
    SSL* ssl;
    iovec const* pieces;
    std::size_t total;
    retry_state* state; // of the SSL; null unless this is a retry
    gather_buffer& buffer;
    std::optional<bool> partial{}; // whether the call ends after a record; asked when needed
};

[[nodiscard]] int register_ex_data() noexcept;

/// ex_data_index is where an SSL keeps its state.
[[nodiscard]] inline int ex_data_index() noexcept
{
    static int const index = register_ex_data();
    return index;
}

/// retry_state_of is the state of ssl, or null when no retry is due. Inline: every call uses it.
[[nodiscard]] inline retry_state* retry_state_of(SSL const* ssl) noexcept
{
    return static_cast<retry_state*>(SSL_get_ex_data(ssl, ex_data_index()));
}

/// make_state gives the call a state; false when memory is short.
[[nodiscard]] bool make_state(call& c) noexcept;

/// forget removes the state: the call is complete, or has failed for good.
void forget(call& c) noexcept;

/// same_as_before is true when the call is the retry that its state waits for.
[[nodiscard]] bool same_as_before(call const& c) noexcept;

/// remember keeps what a retry needs, and returns ret. SSL_write has returned ret for the run r,
/// before which `done` bytes were written.
[[nodiscard]] int remember(call& c, std::size_t done, run const& r, int ret) noexcept;

/// fail reports an error of a call that did not reach SSL_write: SSL_get_error returns
/// SSL_ERROR_SSL, and the error queue has the reason. Returns what the call returns.
[[nodiscard]] int fail(SSL* ssl, int reason) noexcept;

} // namespace cleat::tls::writev
