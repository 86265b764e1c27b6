// With OpenSSL, a server reads early data before it goes on with its handshake.

#include <cleat/tls/early_server_for_tests.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/span_bio.hpp>

#include <openssl/ssl.h>

#include <array>

namespace cleat::tls {

std::size_t allow_early_data(context const& server, bool allowed)
{
    constexpr std::uint32_t size_max = 14336;
    SSL_CTX_set_max_early_data(server.native_handle(), allowed ? size_max : 0);
    // With anti-replay, tickets refer to sessions in a cache, and each can be used once.
    SSL_CTX_set_options(server.native_handle(), SSL_OP_NO_ANTI_REPLAY);
    return size_max;
}

step early_data_server::handshake(engine& server, wire& w)
{
    SSL* const ssl = server.native_handle();
    while (!finished) {
        std::array<std::byte, 1000> block{};
        std::size_t bytes = 0;
        attached const call{SSL_get_rbio(ssl), w};
        clear_errors();
        int const value = SSL_read_early_data(ssl, block.data(), block.size(), &bytes);
        received.insert(
            received.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(bytes));
        finished = value == SSL_READ_EARLY_DATA_FINISH;
        if (value != SSL_READ_EARLY_DATA_ERROR)
            continue;
        switch (SSL_get_error(ssl, 0)) {
        case SSL_ERROR_WANT_READ:
            return {want::input};
        case SSL_ERROR_WANT_WRITE:
            return {want::output};
        default:
            return {want::nothing, 0, make_error_code(error::library)};
        }
    }
    return server.handshake(w);
}

} // namespace cleat::tls
