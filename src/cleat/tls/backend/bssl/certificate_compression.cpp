// Certificate compression (RFC 8879) in the BoringSSL family, which has hooks and no algorithms.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/compressed_certificates.hpp>

#include <openssl/bytestring.h>

#include <exception>

namespace cleat::tls::backend {
namespace {

int cache_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// The library does not say which algorithm it calls for.
template <std::uint16_t Algorithm>
int compress(SSL* ssl, CBB* out, std::uint8_t const* message, std::size_t size) noexcept
{
    auto& cache = *static_cast<compressed_certificates*>(
        SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), cache_index()));
    try {
        std::span<std::byte const> const found =
            cache.find(Algorithm, {reinterpret_cast<char const*>(message), size});
        return !found.empty() &&
               CBB_add_bytes(
                   out, reinterpret_cast<std::uint8_t const*>(found.data()), found.size()) == 1;
    } catch (std::exception const&) { // Without memory the handshake fails.
        return 0;
    }
}

ssl_cert_compression_func_t function_for(std::uint16_t algorithm) noexcept
{
    switch (algorithm) {
    case 1:
        return compress<1>;
    case 2:
        return compress<2>;
    case 3:
        return compress<3>;
    default:
        return nullptr;
    }
}

} // namespace

bool can_compress(std::uint16_t algorithm) noexcept
{
    return function_for(algorithm) != nullptr;
}

bool compress_certificates(SSL_CTX* ctx, compressed_certificates* cache)
{
    bool done = SSL_CTX_set_ex_data(ctx, cache_index(), cache) == 1;
    for (certificate_compressor const& each : cache->compressors()) {
        ssl_cert_compression_func_t const function = function_for(each.algorithm);
        done = done && function != nullptr &&
               SSL_CTX_add_cert_compression_alg(ctx, each.algorithm, function, nullptr) == 1;
    }
    return done;
}

} // namespace cleat::tls::backend
