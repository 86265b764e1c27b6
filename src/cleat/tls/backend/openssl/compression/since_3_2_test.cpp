#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/ocsp_statement_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/stapling_client_for_tests.hpp>

#include <openssl/comp.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cleat::tls::since_3_2_test {
namespace {

constexpr std::uint16_t zlib = 1;
constexpr std::uint16_t brotli = 2;
constexpr int certificate_message = 11;
constexpr int compressed_certificate_message = 25;

int compressions = 0;

// OpenSSL's own compressors, as its client decompresses.
bool compress_with(
    COMP_METHOD* method, std::span<std::byte const> message, std::vector<std::byte>& compressed)
{
    ++compressions;
    std::unique_ptr<COMP_CTX, freed_by<COMP_CTX_free>> const ctx{COMP_CTX_new(method)};
    compressed.resize(message.size() + 1000);
    std::vector<std::byte> copy{message.begin(), message.end()};
    int const size = COMP_compress_block(
        ctx.get(), reinterpret_cast<unsigned char*>(compressed.data()),
        static_cast<int>(compressed.size()), reinterpret_cast<unsigned char*>(copy.data()),
        static_cast<int>(copy.size()));
    compressed.resize(static_cast<std::size_t>(std::max(size, 0)));
    return size > 0;
}

bool with_zlib(std::span<std::byte const> message, std::vector<std::byte>& compressed)
{
    return compress_with(COMP_zlib_oneshot(), message, compressed);
}

bool with_brotli(std::span<std::byte const> message, std::vector<std::byte>& compressed)
{
    return compress_with(COMP_brotli_oneshot(), message, compressed);
}

bool refuse(std::span<std::byte const>, std::vector<std::byte>&)
{
    return false;
}

// The types of the handshake messages that a client has received, and the algorithm of a compressed
// certificate.
struct received_messages
{
    std::vector<int> types;
    int algorithm = 0;

    [[nodiscard]] bool has(int type) const { return std::ranges::find(types, type) != types.end(); }
};

void note_message(
    int is_sent, int, int content_type, void const* bytes, std::size_t size, SSL*, void* argument)
{
    auto& received = *static_cast<received_messages*>(argument);
    auto const* const message = static_cast<unsigned char const*>(bytes);
    if (is_sent != 0 || content_type != SSL3_RT_HANDSHAKE || size < 6)
        return;
    received.types.push_back(message[0]);
    if (message[0] == compressed_certificate_message)
        received.algorithm = message[4] << 8 | message[5];
}

struct outcome
{
    std::string name; ///< In the server's certificate.
    received_messages messages;
    std::string response; ///< By OCSP.
};

struct client_settings
{
    std::string name = "a.test";
    protocol_version version = protocol_version::tls_1_3;
    std::vector<int> algorithms{zlib, brotli}; ///< In its own order of preference.
    bool asks_for_ocsp = false;
};

outcome connect(context const& server, client_settings const& wanted = {})
{
    context_spec spec;
    spec.role = role::client;
    spec.server_name = wanted.name;
    spec.version_max = wanted.version;
    context const client{spec};
    SSL_CTX* const native = client.native_handle();
    if (!wanted.algorithms.empty()) {
        SSL_CTX_clear_options(native, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION);
        std::vector<int> algorithms = wanted.algorithms;
        REQUIRE(
            SSL_CTX_set1_cert_comp_preference(native, algorithms.data(), algorithms.size()) == 1);
    }
    outcome found;
    SSL_CTX_set_msg_callback(native, note_message);
    SSL_CTX_set_msg_callback_arg(native, &found.messages);
    test_connection connection{server, client};
    if (wanted.asks_for_ocsp)
        ask_for_ocsp(connection.client.get());
    found.name = connection.handshake() ? connection.server_identity() : "refused";
    found.response = received_ocsp(connection.client.get());
    return found;
}

struct compression_fixture
{
    compression_fixture()
    {
        compressions = 0;
        spec.certificates = {a.source("a.pem"), b.source("b.pem")};
        spec.certificate_compressors = {{brotli, with_brotli}, {zlib, with_zlib}};
        REQUIRE(backend::can_compress(zlib));
        REQUIRE(backend::can_compress(brotli));
    }

    test_identity issuer = make_identity({.common_name = "issuer", .authority = true});
    test_identity a = make_identity({.names = {"a.test"}, .common_name = "a", .issuer = &issuer});
    test_identity b = make_identity({.names = {"b.test"}, .common_name = "b", .issuer = &issuer});
    context_spec spec;
};

} // namespace

TEST_CASE_FIXTURE(compression_fixture, "a certificate is compressed once for all clients")
{
    spec.certificates.back().chain += issuer.certificate_pem;
    context const server{spec};
    CHECK(compressions == 0);
    for (char const* name : {"a", "b", "a", "b"}) {
        outcome const found = connect(server, {.name = std::string{name} + ".test"});
        CHECK(found.name == name);
        CHECK(found.messages.has(compressed_certificate_message));
        CHECK_FALSE(found.messages.has(certificate_message));
        CHECK(found.messages.algorithm == brotli);
    }
    CHECK(compressions == 2);
}

TEST_CASE_FIXTURE(compression_fixture, "the first of the server's algorithms that a client has")
{
    context const server{spec};
    CHECK(connect(server, {.algorithms = {zlib, brotli}}).messages.algorithm == brotli);
    CHECK(connect(server, {.algorithms = {zlib}}).messages.algorithm == zlib);
    CHECK(compressions == 2);
}

TEST_CASE_FIXTURE(compression_fixture, "a server with one certificate compresses it")
{
    spec.certificates.resize(1);
    context const server{spec};
    CHECK(connect(server).messages.has(compressed_certificate_message));
}

TEST_CASE_FIXTURE(
    compression_fixture, "a client without the algorithm gets the certificate as it is")
{
    spec.certificate_compressors = {{brotli, with_brotli}};
    context const server{spec};
    for (client_settings const& each :
         {client_settings{.algorithms = {}}, client_settings{.algorithms = {zlib}},
          client_settings{.version = protocol_version::tls_1_2}}) {
        outcome const found = connect(server, each);
        CHECK(found.name == "a");
        CHECK(found.messages.has(certificate_message));
    }
    CHECK(compressions == 0);
}

TEST_CASE_FIXTURE(compression_fixture, "a server without algorithms compresses nothing")
{
    spec.certificate_compressors.clear();
    context const server{spec};
    outcome const found = connect(server);
    CHECK(found.name == "a");
    CHECK(found.messages.has(certificate_message));
}

TEST_CASE_FIXTURE(compression_fixture, "an OCSP response is in the compressed message")
{
    std::string const der = ocsp_statement{.certificate = a.certificate.get()}.der();
    spec.certificates.front().ocsp_response = der;
    context const server{spec};
    outcome const asking = connect(server, {.asks_for_ocsp = true});
    CHECK(asking.name == "a");
    CHECK(asking.messages.has(compressed_certificate_message));
    CHECK(asking.response == der);
    outcome const silent = connect(server);
    CHECK(silent.messages.has(compressed_certificate_message));
    CHECK(silent.response.empty());
    CHECK(compressions == 2);
    CHECK(connect(server, {.name = "b.test", .asks_for_ocsp = true}).response.empty());
}

TEST_CASE_FIXTURE(compression_fixture, "a message that cannot be compressed fails the handshake")
{
    spec.certificate_compressors = {{brotli, refuse}};
    context const server{spec};
    CHECK(connect(server).name == "refused");
    CHECK(connect(server, {.algorithms = {}}).name == "a");
}

TEST_CASE_FIXTURE(compression_fixture, "a server does not ask clients for compressed certificates")
{
    context_spec client_spec;
    client_spec.role = role::client;
    client_spec.server_name = "a.test";
    context const server{spec};
    context const client{client_spec};
    for (context const* each : {&server, &client})
        CHECK(
            (SSL_CTX_get_options(each->native_handle()) & SSL_OP_NO_RX_CERTIFICATE_COMPRESSION) !=
            0);
}

TEST_CASE_FIXTURE(compression_fixture, "an algorithm that is there twice, or unknown, is a mistake")
{
    for (std::uint16_t const wrong : {brotli, std::uint16_t{7}}) {
        spec.certificate_compressors = {{brotli, with_brotli}, {wrong, with_brotli}};
        std::vector<std::string> const found = find_mistakes(spec);
        REQUIRE(found.size() == 1);
        CHECK(contains(found.front(), "certificate compression: "));
    }
}

} // namespace cleat::tls::since_3_2_test
