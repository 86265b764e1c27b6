// Tests of the gather write where early data goes by SSL_write: AWS-LC and BoringSSL.

#include <cleat/tls/ssl_writev/writev_connection_for_tests.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace cleat::tls::writev_tests::ssl_writev_early_data_test {

namespace {

using session_ptr = std::unique_ptr<SSL_SESSION, freed_by<SSL_SESSION_free>>;

// early_connection is a client with a session, and a server that can switch early data off.
struct early_connection
{
    transport client_end;
    transport server_end;
    ctx_ptr client_context{SSL_CTX_new(TLS_client_method())};
    ctx_ptr server_context = make_server_context();
    session_ptr session;
    ssl_ptr client;
    ssl_ptr server;

    early_connection()
    {
        SSL_CTX_set_early_data_enabled(client_context.get(), 1);
        SSL_CTX_set_early_data_enabled(server_context.get(), 1);
        SSL_CTX_set_session_cache_mode(client_context.get(), SSL_SESS_CACHE_CLIENT);
        SSL_CTX_set_app_data(client_context.get(), this);
        SSL_CTX_sess_set_new_cb(client_context.get(), [](SSL* ssl, SSL_SESSION* made) {
            static_cast<early_connection*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)))
                ->session.reset(made);
            return 1;
        });
        connect();
        for (int turn = 0; turn < 3; ++turn)
            step();
        char byte = 0; // The server's first write sends the tickets.
        REQUIRE(SSL_write(server.get(), &byte, 1) == 1);
        client_end.in += std::exchange(server_end.out, {});
        REQUIRE(SSL_read(client.get(), &byte, 1) == 1);
        REQUIRE(session != nullptr);
        REQUIRE(SSL_SESSION_early_data_capable(session.get()) == 1);
    }

    void connect()
    {
        client.reset(SSL_new(client_context.get()));
        server.reset(SSL_new(server_context.get()));
        client_end = {};
        server_end = {};
        for (auto [ssl, end] :
             {std::pair{client.get(), &client_end}, std::pair{server.get(), &server_end}}) {
            BIO* bio = make_bio(*end);
            SSL_set_bio(ssl, bio, bio);
        }
        SSL_set_connect_state(client.get());
        SSL_set_accept_state(server.get());
        if (session)
            SSL_set_session(client.get(), session.get());
    }

    // step runs both handshakes and delivers what they wrote.
    void step()
    {
        SSL_do_handshake(client.get());
        server_end.in += std::exchange(client_end.out, {});
        SSL_do_handshake(server.get());
        client_end.in += std::exchange(server_end.out, {});
    }

    int write(pieces const& list)
    {
        ERR_clear_error();
        std::size_t written = 0;
        std::vector<iovec> const vectors = iovecs_of(list);
        int const ret = cleat_ssl_writev(
            client.get(), vectors.data(), static_cast<int>(vectors.size()), &written);
        return ret > 0 ? SSL_ERROR_NONE : SSL_get_error(client.get(), ret);
    }

    std::string received()
    {
        server_end.in += std::exchange(client_end.out, {});
        std::string plaintext(1000, 0);
        int const size = SSL_read(server.get(), plaintext.data(), 1000);
        plaintext.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return plaintext;
    }
};

} // namespace

TEST_CASE("early data that is accepted is written in pieces")
{
    early_connection c;
    c.connect();
    SSL_do_handshake(c.client.get());
    REQUIRE(SSL_in_early_data(c.client.get()) == 1);
    CHECK(c.write({"first ", "request"}) == SSL_ERROR_NONE);
    c.step();
    CHECK(c.received() == "first request");
}

TEST_CASE("after early data was rejected, writing begins anew with any pieces")
{
    early_connection c;
    SSL_CTX_set_early_data_enabled(c.server_context.get(), 0); // The server now rejects it.
    for (bool const blocked : {false, true}) {
        c.connect();
        SSL_do_handshake(c.client.get());
        REQUIRE(SSL_in_early_data(c.client.get()) == 1);
        CHECK(c.write({"first ", "request"}) == SSL_ERROR_NONE);
        c.step();
        pieces const second{"second ", "request, longer"};
        if (blocked) {
            c.client_end.quota = 0;
            CHECK(c.write(second) == SSL_ERROR_WANT_WRITE);
            c.client_end.quota = SIZE_MAX;
        }
        CHECK(SSL_do_handshake(c.client.get()) <= 0);
        CHECK(c.write(second) == SSL_ERROR_EARLY_DATA_REJECTED);
        SSL_reset_early_data_reject(c.client.get());
        for (int turn = 0; turn < 3; ++turn)
            c.step();
        CHECK(c.write({"first ", "request"}) == SSL_ERROR_NONE);
        CHECK(c.received() == "first request");
    }
}

} // namespace cleat::tls::writev_tests::ssl_writev_early_data_test
