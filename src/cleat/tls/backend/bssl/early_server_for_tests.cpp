// In the BoringSSL family a server's handshake returns before early data is read; SSL_read gives
// it.

#include <cleat/tls/early_server_for_tests.hpp>

#include <openssl/ssl.h>

#include <array>

namespace cleat::tls {

std::size_t allow_early_data(context const& server, bool allowed)
{
    SSL_CTX_set_early_data_enabled(server.native_handle(), allowed ? 1 : 0);
    // Early data of a ticket whose age is not the client's is rejected: see client_ticket::made_by.
    SSL_CTX_set_current_time_cb(server.native_handle(), nullptr);
    return 14336; // The library's limit, which has no setter.
}

step early_data_server::handshake(engine& server, wire& w)
{
    if (!server.established())
        if (step const s = server.handshake(w); s.error || s.next != want::nothing)
            return s;
    // A read may go beyond the end of early data. SSL_in_init tells after it.
    finished = SSL_in_init(server.native_handle()) == 0;
    while (!finished) {
        std::array<std::byte, 1000> block{};
        step const s = server.read(w, block);
        received.insert(
            received.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(s.bytes));
        finished = SSL_in_init(server.native_handle()) == 0;
        if (s.error || (!finished && s.next != want::nothing))
            return {s.next, 0, s.error};
    }
    return {};
}

} // namespace cleat::tls
