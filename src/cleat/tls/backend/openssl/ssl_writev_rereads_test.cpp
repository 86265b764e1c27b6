// Tests of the gather write where OpenSSL reads plaintext again: kernel TLS and ASYNC.

#include <cleat/tls/ssl_writev/writev_connection_for_tests.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <cstddef>

namespace cleat::tls::writev_tests::ssl_writev_rereads_test {

TEST_CASE("where the library may read a run again, it keeps its address until it is written")
{
    // Without the moving mode the library itself refuses a run at another address.
    pieces const list =
        make_pieces({100, 50, 3000, 17000, 300, 3000, 3000, 3000, 3000, 3000, 3000});
    for (bool const ktls : {true, false})
        for (long const mode : {0L, partial}) {
            connection c{TLS1_3_VERSION, mode};
            if (ktls)
                SSL_set_options(c.client.get(), SSL_OP_ENABLE_KTLS);
            else
                SSL_set_mode(c.client.get(), SSL_MODE_ASYNC);
            c.handshake();
            for (std::size_t quota = 0; quota < 38600; quota += 97) {
                c.client_end.quota = quota;
                finish(c, list, 400);
                REQUIRE(c.received() == joined(list));
            }
        }
}

} // namespace cleat::tls::writev_tests::ssl_writev_rereads_test
