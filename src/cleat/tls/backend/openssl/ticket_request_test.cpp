// ticket_request (RFC 9149): a client that says how many tickets it can use.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::tls::ticket_request_test {
namespace {

struct asking_client
{
    std::vector<unsigned char> request;  // The extension that it sends.
    std::vector<unsigned char> expected; // The server's answer.

    static int on_add(
        SSL*, unsigned, unsigned, unsigned char const** out, std::size_t* size, X509*, std::size_t,
        int*, void* self) noexcept
    {
        std::vector<unsigned char> const& request = static_cast<asking_client*>(self)->request;
        *out = request.data();
        *size = request.size();
        return 1;
    }

    static int on_answer(
        SSL*, unsigned, unsigned, unsigned char const* answer, std::size_t size, X509*, std::size_t,
        int*, void* self) noexcept
    {
        static_cast<asking_client*>(self)->expected.assign(answer, answer + size);
        return 1;
    }
};

struct fixture
{
    context_spec server;
    context_spec client;
    asking_client asking;

    fixture()
    {
        server.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
        server.tickets = std::make_shared<ticket_secret const>(ticket_secret{std::byte{1}});
        server.ticket_counts = {4, 1};
        client.role = role::client;
        client.server_name = "a.test";
    }

    void ask(context const& client_context)
    {
        REQUIRE(
            SSL_CTX_add_custom_ext(
                client_context.native_handle(), 58,
                SSL_EXT_CLIENT_HELLO | SSL_EXT_TLS1_3_ENCRYPTED_EXTENSIONS, asking_client::on_add,
                nullptr, &asking, asking_client::on_answer, &asking) == 1);
    }
};

TEST_CASE_FIXTURE(fixture, "a client gets as many tickets as it asks for, and no more than planned")
{
    context const serving{server};
    context const client_context{client};
    ask(client_context);
    for (auto const& [wanted, given] : {std::pair{0, 0}, {1, 1}, {3, 3}, {200, 4}}) {
        asking.request = {static_cast<unsigned char>(wanted), 9};
        test_connection connection{serving, client_context};
        REQUIRE(connection.handshake());
        CHECK(connection.sessions.size() == static_cast<std::size_t>(given));
        CHECK(asking.expected == std::vector{static_cast<unsigned char>(given)});
    }
}

TEST_CASE_FIXTURE(fixture, "with a resumed handshake the second number of a request counts")
{
    context const serving{server};
    context const client_context{client};
    ask(client_context);
    for (int const wanted : {0, 1, 5}) {
        asking.request = {9, static_cast<unsigned char>(wanted)};
        test_connection first{serving, client_context};
        REQUIRE(first.handshake());
        REQUIRE(first.sessions.size() == 4);
        test_connection again{serving, client_context};
        SSL_set_session(again.client.get(), first.sessions.back().get());
        REQUIRE(again.handshake());
        CHECK(again.resumed());
        CHECK(again.sessions.size() == (wanted == 0 ? 0 : 1));
    }
}

TEST_CASE_FIXTURE(fixture, "a request of another length ends the handshake, as RFC 8446 says")
{
    context const serving{server};
    context const client_context{client};
    ask(client_context);
    asking.request = {1};
    test_connection connection{serving, client_context};
    CHECK(!connection.handshake());
    CHECK(connection.client_alert() == SSL_AD_DECODE_ERROR);
}

TEST_CASE_FIXTURE(fixture, "a client that asks for nothing is told nothing")
{
    context const serving{server};
    context const client_context{client};
    test_connection connection{serving, client_context};
    REQUIRE(connection.handshake());
    CHECK(connection.sessions.size() == 4);
    CHECK(asking.expected.empty());
}

} // namespace
} // namespace cleat::tls::ticket_request_test
