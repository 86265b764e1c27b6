#include <cleat/tls/ssl_writev/library.hpp>
#include <cleat/tls/ssl_writev/retry.hpp>

#include <openssl/err.h>

#include <new>

namespace cleat::tls::writev {

namespace {

extern "C" {

static void free_retry_state(void*, void* state, CRYPTO_EX_DATA*, int, long, void*)
{
    delete static_cast<retry_state*>(state);
}

// A copy of an SSL (SSL_dup) has no unfinished write.
static int forget_in_copy(CRYPTO_EX_DATA*, CRYPTO_EX_DATA const*, void** state, int, long, void*)
{
    *state = nullptr;
    return 1;
}
}

// fingerprint_of distinguishes lists of pieces well enough to detect a mistaken retry.
fingerprint fingerprint_of(call const& c)
{
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
    fingerprint f;
    for (cursor position{c.pieces, c.total}; position.left != 0;
         position.advance(position.contiguous())) {
        f.lengths = (f.lengths ^ position.contiguous()) * spread;
        f.places = (f.places ^ reinterpret_cast<std::uintptr_t>(position.data())) * spread;
    }
    return f;
}

} // namespace

int register_ex_data() noexcept
{
    return SSL_get_ex_new_index(0, nullptr, nullptr, forget_in_copy, free_retry_state);
}

bool make_state(call& c) noexcept
{
    if (c.state != nullptr)
        return true;
    std::unique_ptr<retry_state> state{new (std::nothrow) retry_state};
    if (state == nullptr || SSL_set_ex_data(c.ssl, ex_data_index(), state.get()) != 1)
        return false;
    c.state = state.release();
    return true;
}

void forget(call& c) noexcept
{
    if (c.state == nullptr)
        return;
    SSL_set_ex_data(c.ssl, ex_data_index(), nullptr);
    delete c.state;
    c.state = nullptr;
}

bool same_as_before(call const& c) noexcept
{
    if (c.total != c.state->total)
        return false;
    fingerprint const now = fingerprint_of(c);
    fingerprint const& before = c.state->pieces;
    return now.lengths == before.lengths &&
           (now.places == before.places ||
            (SSL_get_mode(c.ssl) & SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) != 0);
}

int remember(call& c, std::size_t done, run const& r, int ret) noexcept
{
    if (!backend::must_retry(c.ssl)) {
        forget(c);
        return ret;
    }
    if (!make_state(c))
        return fail(c.ssl, ERR_R_MALLOC_FAILURE);
    c.state->total = c.total;
    c.state->done = done;
    c.state->run = r.size;
    c.state->pieces = fingerprint_of(c);
    if (r.copied && backend::rereads_plaintext(c.ssl))
        c.state->held = c.buffer.release();
    return ret;
}

int fail(SSL* ssl, int reason) noexcept
{
    backend::mark_failed(ssl);
    ERR_put_error(ERR_LIB_SSL, 0, reason, __FILE__, __LINE__);
    return -1;
}

} // namespace cleat::tls::writev
