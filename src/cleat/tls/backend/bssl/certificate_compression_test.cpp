#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <openssl/pool.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace cleat::tls::certificate_compression_test {
namespace {

// An algorithm that only turns bits over, and counts.
int compressions = 0;
int decompressions = 0;

bool invert(std::span<std::byte const> message, std::vector<std::byte>& compressed)
{
    ++compressions;
    for (std::byte const each : message)
        compressed.push_back(~each);
    return true;
}

bool refuse(std::span<std::byte const>, std::vector<std::byte>&)
{
    return false;
}

int invert_back(
    SSL*, CRYPTO_BUFFER** out, std::size_t size, std::uint8_t const* compressed,
    std::size_t compressed_size)
{
    ++decompressions;
    std::uint8_t* data = nullptr;
    *out = CRYPTO_BUFFER_alloc(&data, size);
    if (*out == nullptr || size != compressed_size)
        return 0;
    std::transform(
        compressed, compressed + compressed_size, data, [](std::uint8_t each) { return ~each; });
    return 1;
}

struct compression_fixture
{
    compression_fixture()
    {
        compressions = 0;
        decompressions = 0;
        spec.certificates = {
            make_identity({.names = {"a.test"}, .common_name = "a"}).source("a.pem"),
            make_identity({.names = {"b.test"}, .common_name = "b"}).source("b.pem")};
        spec.certificate_compressors = {{2, invert}};
    }

    // The name in the certificate that a client gets which can decompress.
    static std::string shown(
        context const& server, std::string const& name,
        protocol_version version = protocol_version::tls_1_3, std::uint16_t algorithm = 2)
    {
        context_spec client_spec;
        client_spec.role = role::client;
        client_spec.server_name = name;
        client_spec.version_max = version;
        context const client{client_spec};
        REQUIRE(
            SSL_CTX_add_cert_compression_alg(
                client.native_handle(), algorithm, nullptr, invert_back) == 1);
        test_connection connection{server, client};
        return connection.handshake() ? connection.server_identity() : "refused";
    }

    context_spec spec;
};

} // namespace

TEST_CASE_FIXTURE(compression_fixture, "a certificate is compressed once for all clients")
{
    context const server{spec};
    CHECK(compressions == 0);
    CHECK(shown(server, "a.test") == "a");
    CHECK(compressions == 1);
    CHECK(shown(server, "a.test") == "a");
    CHECK(compressions == 1);
    CHECK(shown(server, "b.test") == "b");
    CHECK(shown(server, "a.test") == "a");
    CHECK(compressions == 2);
    CHECK(decompressions == 4);
}

TEST_CASE_FIXTURE(
    compression_fixture, "a client without the algorithm gets the certificate as it is")
{
    context const server{spec};
    CHECK(shown(server, "a.test", protocol_version::tls_1_3, 1) == "a");
    CHECK(shown(server, "a.test", protocol_version::tls_1_2) == "a");
    CHECK(compressions == 0);
}

TEST_CASE_FIXTURE(compression_fixture, "a server without algorithms compresses nothing")
{
    spec.certificate_compressors.clear();
    context const server{spec};
    CHECK(shown(server, "a.test") == "a");
    CHECK(compressions == 0);
}

TEST_CASE_FIXTURE(compression_fixture, "a message that cannot be compressed fails the handshake")
{
    spec.certificate_compressors = {{2, refuse}};
    context const server{spec};
    CHECK(shown(server, "a.test") == "refused");
}

TEST_CASE_FIXTURE(compression_fixture, "an algorithm that RFC 8879 does not have is a mistake")
{
    spec.certificate_compressors = {{7, invert}};
    std::vector<std::string> const found = find_mistakes(spec);
    REQUIRE(found.size() == 1);
    CHECK(contains(found.front(), "certificate compression: "));
}

} // namespace cleat::tls::certificate_compression_test
