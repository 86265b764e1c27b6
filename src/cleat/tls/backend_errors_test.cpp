// The errors for first flights that are wrong, the same with every TLS library.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace cleat::tls::backend_errors_test {
namespace {

using namespace std::string_view_literals;

context_spec server_spec()
{
    context_spec spec;
    spec.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    return spec;
}

// The error of a server's handshake that reads these bytes first.
error error_for(std::string_view first_bytes)
{
    context const server{server_spec()};
    ssl_ptr const ssl{SSL_new(server.native_handle())};
    bio_ptr input{BIO_new(BIO_s_mem())};
    bio_ptr output{BIO_new(BIO_s_mem())};
    BIO_write(input.get(), first_bytes.data(), static_cast<int>(first_bytes.size()));
    SSL_set_bio(ssl.get(), input.release(), output.release());
    clear_errors();
    REQUIRE(SSL_accept(ssl.get()) <= 0);
    return backend::error_of(drain_errors().code);
}

TEST_CASE("plain HTTP on a TLS port is recognised")
{
    for (std::string_view const request :
         {"GET / HTTP/1.1\r\nHost: a\r\n\r\n"sv, "POST /x HTTP/1.0\r\n\r\n"sv,
          "HEAD / HTTP/1.1\r\n\r\n"sv, "PUT /x HTTP/1.1\r\n\r\n"sv,
          "CONNECT a:443 HTTP/1.1\r\n\r\n"sv})
        CHECK_MESSAGE(error_for(request) == error::http_request, request);
}

TEST_CASE("bytes that are no TLS are not called a broken handshake")
{
    CHECK(error_for("SSH-2.0-OpenSSH_9.2\r\n\r\n"sv) == error::not_tls);
    CHECK(error_for(std::string(64, '\0')) == error::not_tls);
    CHECK(error_for("EHLO mail.example.com\r\n"sv) == error::not_tls);
}

TEST_CASE("TLS that breaks its own rules is a violation")
{
    // A ClientHello whose length is right and whose inside is empty.
    CHECK(error_for("\x16\x03\x01\x00\x04\x01\x00\x00\x00"sv) == error::protocol_violation);
    // A handshake message that is no ClientHello.
    CHECK(error_for("\x16\x03\x01\x00\x04\x0e\x00\x00\x00"sv) == error::protocol_violation);
    // Application data before any handshake.
    CHECK(error_for("\x17\x03\x03\x00\x04zzzz"sv) == error::protocol_violation);
}

TEST_CASE("a handshake without a common suite or scheme names what is missing")
{
    context_spec client_side;
    client_side.role = role::client;
    context const client{client_side};
    context const server{server_spec()};
    test_connection by_suite{server, client};
    SSL_set_max_proto_version(by_suite.client.get(), TLS1_2_VERSION);
    SSL_set_cipher_list(by_suite.client.get(), "ECDHE-RSA-AES128-GCM-SHA256");
    CHECK(!by_suite.handshake());
    CHECK(backend::error_of(by_suite.failure.code) == error::no_shared_cipher);

    test_connection by_scheme{server, client};
    SSL_set_min_proto_version(by_scheme.client.get(), TLS1_3_VERSION);
    SSL_set1_sigalgs_list(by_scheme.client.get(), "RSA-PSS+SHA256");
    CHECK(!by_scheme.handshake());
    CHECK(backend::error_of(by_scheme.failure.code) == error::no_shared_cipher);
}

TEST_CASE("a failure that lack of memory caused is reported as that")
{
    clear_errors();
    ERR_put_error(ERR_LIB_CRYPTO, 0, ERR_R_MALLOC_FAILURE, __FILE__, __LINE__);
    ERR_put_error(ERR_LIB_SSL, 0, ERR_R_INTERNAL_ERROR, __FILE__, __LINE__);
    CHECK(drain_errors().out_of_memory);
    ERR_put_error(ERR_LIB_SSL, 0, ERR_R_INTERNAL_ERROR, __FILE__, __LINE__);
    CHECK(!drain_errors().out_of_memory);
}

TEST_CASE("a record that was changed on the way is a violation")
{
    context_spec client_side;
    client_side.role = role::client;
    context const client{client_side};
    context const server{server_spec()};
    test_connection connection{server, client};
    REQUIRE(connection.handshake());
    std::string const record = std::string{"\x17\x03\x03\x00\x20", 5} + std::string(32, 'x');
    BIO_write(
        SSL_get_wbio(connection.client.get()), record.data(), static_cast<int>(record.size()));
    char byte = 0;
    clear_errors();
    REQUIRE(SSL_read(connection.server.get(), &byte, 1) <= 0);
    CHECK(backend::error_of(drain_errors().code) == error::protocol_violation);
}

} // namespace
} // namespace cleat::tls::backend_errors_test
