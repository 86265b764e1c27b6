// A client of TLS 1.2 that asks to renegotiate. OpenSSL by itself answers each request with a
// warning, and goes on. The other libraries end the connection, and have no client that asks.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <vector>

namespace cleat::tls::renegotiation_test {
namespace {

context server_context()
{
    context_spec spec;
    spec.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    return context{spec};
}

context client_context()
{
    context_spec spec;
    spec.role = role::client;
    spec.version_max = protocol_version::tls_1_2;
    return context{spec};
}

TEST_CASE("a client that asks to renegotiate is told no, and its connection ends at once")
{
    context const server = server_context();
    context const client = client_context();
    engine_pair pair{server, client};
    REQUIRE(pair.established());
    SSL* const ssl = pair.client.engine.native_handle();
    SSL_clear_options(ssl, SSL_OP_NO_RENEGOTIATION);
    REQUIRE(SSL_renegotiate(ssl) == 1);
    step const asked =
        drive(pair.client, pair.server, [](engine& e, wire& w) { return e.handshake(w); });
    REQUIRE(asked.next == want::input);

    std::size_t const before = pair.client.received.size();
    std::vector<std::byte> text;
    CHECK(read_all(pair.server, pair.client, text).error == error::renegotiation);
    CHECK(text.empty());
    CHECK(pair.client.received.size() > before); // The warning.
}

TEST_CASE("what a client has sent before it asks to renegotiate is read")
{
    context const server = server_context();
    context const client = client_context();
    engine_pair pair{server, client};
    REQUIRE(pair.established());
    REQUIRE_FALSE(write_all(pair.client, pair.server, pattern(100)).error);
    SSL* const ssl = pair.client.engine.native_handle();
    SSL_clear_options(ssl, SSL_OP_NO_RENEGOTIATION);
    REQUIRE(SSL_renegotiate(ssl) == 1);
    static_cast<void>(
        drive(pair.client, pair.server, [](engine& e, wire& w) { return e.handshake(w); }));

    std::vector<std::byte> text;
    CHECK(read_all(pair.server, pair.client, text).error == error::renegotiation);
    CHECK(text == pattern(100));
}

} // namespace
} // namespace cleat::tls::renegotiation_test
