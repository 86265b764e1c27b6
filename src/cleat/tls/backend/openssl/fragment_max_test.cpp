// A client may ask a server for small records (RFC 6066, section 4), which cost more room on the
// wire than full ones. AWS-LC and BoringSSL do not know the extension.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <openssl/ssl.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cleat::tls::fragment_max_test {
namespace {

struct requested_size
{
    std::uint8_t mode;
    std::size_t bytes;
};

constexpr requested_size sizes[] = {
    {TLSEXT_max_fragment_length_512, 512},
    {TLSEXT_max_fragment_length_1024, 1024},
    {TLSEXT_max_fragment_length_2048, 2048},
    {TLSEXT_max_fragment_length_4096, 4096},
};

context server_context()
{
    context_spec spec;
    spec.certificates = {make_identity({.names = {"a.test"}}).source("a.pem")};
    return context{spec};
}

context client_context(protocol_version version)
{
    context_spec spec;
    spec.role = role::client;
    spec.server_name = "a.test";
    spec.version_min = spec.version_max = version;
    return context{spec};
}

TEST_CASE("the small records that a client asked for fill the room that they have, and no more")
{
    context const server = server_context();
    for (protocol_version const version : {protocol_version::tls_1_2, protocol_version::tls_1_3}) {
        context const client = client_context(version);
        for (requested_size const& each : sizes) {
            REQUIRE(SSL_CTX_set_tlsext_max_fragment_length(client.native_handle(), each.mode) == 1);
            engine_pair pair{server, client};
            REQUIRE(pair.established());
            CHECK(pair.server.engine.fragment_max() == each.bytes);

            // More than a block takes, into blocks of all sizes: less than one record, one, many.
            std::vector<std::byte> const text = pattern(300'000);
            std::vector<std::byte> received;
            std::size_t sent = 0;
            for (std::size_t room = 600; sent < text.size(); room = room * 3 % 200'003) {
                std::vector<std::byte> block(room);
                wire w{{}, block, false};
                std::span<std::byte const> const pieces[] = {std::span{text}.subspan(sent)};
                step const s = pair.server.engine.write(w, pieces);
                REQUIRE(!s.error);
                // At least as much as write_capacity promised was taken.
                REQUIRE(
                    s.bytes >=
                    std::min(pair.server.engine.write_capacity(room), text.size() - sent));
                sent += s.bytes;

                std::span<std::byte const> const sealed{block.data(), room - w.out.size()};
                std::vector<std::byte> plaintext(room);
                wire input{sealed, {}, false};
                step const r = pair.client.engine.read(input, plaintext);
                REQUIRE(!r.error);
                received.insert(
                    received.end(), plaintext.begin(),
                    plaintext.begin() + static_cast<std::ptrdiff_t>(r.bytes));
            }
            CHECK(received == text);
        }
    }
}

TEST_CASE("a client that does not ask gets full records")
{
    context const server = server_context();
    context const client = client_context(protocol_version::tls_1_3);
    engine_pair pair{server, client};
    REQUIRE(pair.established());
    CHECK(pair.server.engine.fragment_max() == 16384);
}

} // namespace
} // namespace cleat::tls::fragment_max_test
